"""
What the pages of a matrix add to the style sheet of reports: its table, its bars and two marks.

Blue and vermilion are distinguishable with every kind of colour vision, and the marks by shape. The
module does not know the content of the page.
"""

from __future__ import annotations

from robotrules.html_document import Html

__all__ = ["STYLE", "SYMBOLS"]

SYMBOLS = Html("""\
<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<symbol id="yes" viewBox="0 0 24 24"><rect width="24" height="24" rx="6"/>
<path d="M6.5 12.6l3.7 3.7 7.3-8"/></symbol>
<symbol id="no" viewBox="0 0 24 24"><rect width="24" height="24" rx="6"/>
<path d="M8 8l8 8M16 8l-8 8"/></symbol>
</defs></svg>
""")

STYLE = """
:root { --some-bar: #d1ab2e; }
@media (prefers-color-scheme: dark) { :root { --some-bar: #9c8330; } }
.counts { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.6rem, 1fr)); }
.counts { gap: .6rem 1rem; list-style: none; margin: 1.2rem 0 0; padding: 0; }
.counts li { display: grid; grid-template-columns: 1fr auto; gap: .1rem .4rem; }
.counts b { font-size: .8rem; font-weight: 600; white-space: nowrap; }
.counts small { text-align: right; }
.bar { grid-column: 1 / 3; grid-row: 2; display: flex; gap: 2px; height: 8px; }
.bar i { border-radius: 3px; min-width: 5px; }
.bar .everything { background: var(--yes); }
.bar .some { background: var(--some-bar); }
.bar .nothing { background: var(--no); }
.bar .not-decided { background: var(--faint); }
.legend { display: flex; flex-wrap: wrap; gap: .4rem 1.3rem; margin: 1.2rem 0 1rem; padding: 0; }
.legend li { display: flex; align-items: center; gap: .45rem; }
.legend { font-size: .85rem; color: var(--faint); list-style: none; }
.matrix { width: fit-content; max-width: 100%; padding-bottom: .4rem; }
.matrix table { width: auto; }
.matrix tr > * { padding: .2rem .3rem; text-align: center; vertical-align: middle; border: 0; }
.matrix thead th { vertical-align: bottom; padding-top: 1rem; padding-bottom: .6rem; }
.matrix thead th { border-bottom: 1px solid var(--line); }
.matrix tr > .who { text-align: left; padding-left: .9rem; padding-right: 1.2rem; }
.matrix .who { white-space: nowrap; }
.matrix th.who { position: sticky; left: 0; z-index: 1; background: var(--paper); }
.matrix thead th.who { z-index: 3; }
.matrix th.who > span { font-weight: 600; }
.matrix th.who small { margin-left: .55rem; }
.matrix th.who .badge { margin-left: .5rem; }
.badge {
  padding: 0 .4rem; border: 1px solid var(--line); border-radius: 1rem;
  font-size: .72rem; font-style: normal; font-weight: 400; color: var(--faint);
}
.matrix sup { color: var(--no); line-height: 0; }
.matrix .path { height: 9.5rem; width: 3rem; min-width: 3rem; }
.matrix .path > span {
  writing-mode: vertical-rl; transform: rotate(180deg); max-height: 10.5rem; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; font: 500 .82rem/1.2 var(--mono); color: var(--ink);
}
.matrix .path.short { height: auto; }
.matrix .path.short > span { writing-mode: horizontal-tb; transform: none; font-weight: 700; }
.matrix td small {
  display: block; font-size: .68rem; line-height: 1; font-variant-numeric: tabular-nums;
}
.matrix .all { padding-right: .9rem; }
.matrix tr > .group { text-align: left; padding-left: .9rem; padding-right: .9rem; }
.matrix .group { white-space: nowrap; }
.matrix td.group { font-size: .82rem; color: var(--faint); }
.matrix td.group small { display: inline; font-size: .8rem; }
.matrix td.group small::before { content: "· line "; }
.matrix tbody tr:last-child > * { padding-bottom: .7rem; }
.matrix tbody tr:not(.band):hover > * { background: var(--ground); }
.matrix .band > th { text-align: left; padding: 1rem .9rem .3rem; }
.matrix tbody + tbody .band > th { border-top: 1px solid var(--line); }
.matrix .band span { font-size: 1.02rem; font-weight: 700; letter-spacing: -.01em; }
.matrix .band small { margin-left: .5rem; }
.matrix .band span, .matrix .band small { position: sticky; left: .9rem; }
.mark { display: inline-block; width: 24px; height: 24px; vertical-align: middle; }
.mark use { fill: none; stroke-width: 2.4; stroke-linecap: round; }
.mark { stroke-linejoin: round; }
.mark.yes { color: var(--yes); } .mark.no { color: var(--no); }
.mark.yes use { fill: var(--yes-soft); } .mark.no use { fill: var(--no-soft); }
symbol rect { stroke: none; } symbol path { fill: none; stroke: currentColor; }
.matrix .pill, .legend .pill { min-width: 6.2rem; text-align: center; }
.pill.everything { background: var(--yes-soft); color: var(--yes); }
.pill.nothing { background: var(--no-soft); color: var(--no); }
.pill.not-decided { background: var(--open-soft); color: var(--open); }
.reasons { margin-top: 1rem; font-size: .9rem; }
.reasons > p { color: var(--faint); margin: 0 0 .6rem; }
.reasons .scroll { max-height: none; width: fit-content; max-width: 100%; }
.reasons table { width: auto; }
@media (max-width: 46rem) {
  .counts { grid-template-columns: 1fr 1fr; }
  .matrix tr > .who { min-width: 8.5rem; max-width: 9.5rem; padding: .2rem .4rem .2rem .6rem; }
  .matrix th.who { white-space: normal; overflow-wrap: anywhere; line-height: 1.25; }
  .matrix th.who small { display: block; margin-left: 0; }
  .matrix th.who .badge { margin-left: 0; }
  .matrix .band small { display: none; }
  .matrix .path { width: 2.4rem; min-width: 2.4rem; height: 8rem; }
  .matrix .path > span { max-height: 7.4rem; }
}
@media print {
  .matrix th.who, .matrix thead th.who { position: static; }
  .matrix .band { break-after: avoid; }
  .matrix .mark { width: 14px; height: 14px; }
  .matrix .path { width: 2rem; min-width: 2rem; }
  .matrix tr > * { padding: .1rem .2rem; }
}
"""
