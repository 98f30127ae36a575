"""
Monitoring: what changed at a site for crawlers since the last look, told once, in words.

    observe ─→ compare with the baseline ─→ commit baseline, events and outbox ─→ deliver

| module | what |
|---|---|
| `observations` | what one look at a robots.txt or a page has seen |
| `comparison`, `page_comparison` | pure functions: a baseline and an observation to events |
| `events` | the events, with stable ids |
| `state` | baselines, events and the outbox of each channel, in the SQLite store |
| `outbox` | delivery with back-off; an event leaves it when its channel has acknowledged it |
| `channels` | a stream, a webhook, a command, mail, an Atom feed |
| `watcher` | fetching through the client, recording, delivering |

The baseline of a target, its events and their places in the outboxes are one transaction, and
nothing is delivered before it is committed.
"""
