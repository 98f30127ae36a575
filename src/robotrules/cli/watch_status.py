"""`robotrules watch --status`: what is watched, and what is undelivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robotrules.cache import format_timestamp
from robotrules.cli.console import Output
from robotrules.cli.text import plural, truncate
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.operations.watch.state import WatchState

LONGEST = 200


def show_status(state: WatchState, as_json: bool) -> int:
    """Print what is watched, and what is undelivered."""
    output = Output()
    targets, channels, holder = state.targets(), state.channels(), state.holder()
    if as_json:
        output.json(
            {
                "watch": state.name,
                "state": visible(str(state.path)),
                "running": holder,
                "targets": [
                    {
                        "target": target,
                        "seen_at": format_timestamp(one.seen_at),
                        "response": one.response,
                        "failures": one.failures,
                        "failing_since": format_timestamp(one.failing_since)
                        if one.failures
                        else None,
                        "changes": one.revision,
                    }
                    for target, one in targets
                ],
                "channels": [one.as_dict() for one in channels],
            }
        )
        output.flush()
        return 0
    where = f"runs in {holder}" if holder else "does not run now"
    output.lines([f"watch {state.name}, {where}", ""])
    if not targets:
        output.lines(["nothing was looked at yet"])
    for target, one in targets:
        at = format_timestamp(one.seen_at).partition(".")[0].replace("T", " ")
        words = f"seen {at} UTC, {one.response}"
        if one.failures:
            words += f", {plural(one.failures, 'failure')} in a row"
        if one.revision:
            words += f", {plural(one.revision, 'change')} so far"
        output.lines([f"{truncate(visible(target), LONGEST)}  {output.paint('faint', words)}"])
    if channels:
        output.lines([""])
    for channel in channels:
        words = f"{channel.delivered:,} delivered, {channel.pending:,} undelivered"
        if channel.dropped:
            words += f", {channel.dropped:,} given up"
        if channel.error:
            words += f"; last failure: {channel.error}"
        output.lines([f"{visible(channel.name)}  {output.paint('faint', words)}"])
    output.flush()
    return 0
