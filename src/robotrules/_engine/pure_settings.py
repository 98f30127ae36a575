"""
The settings of a profile for the pure engine, and the faults of values (RFC 9309 §2.2, §3).

`pure.py` (parsing) and `pure_rules.py` (matching) share this module. It corresponds to
`settings.rs`, and to `faults()` of `records.rs`. It does not define profiles: `profile.py` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Note = tuple[str, int, int, int]  # code, line (0: the file), start, end


class Settings:
    """A profile in the form that the engine uses."""

    def __init__(
        self,
        switches: Sequence[str],
        keys: Sequence[tuple[bytes, bytes, str, bool]],
        max_bytes: int,
        max_line: int | None,
    ) -> None:
        self.switches = frozenset(switches)
        self.max_bytes, self.max_line = min(max_bytes, 1 << 30), max_line
        self.keys: dict[bytes, tuple[bytes, str, bool]] = {}
        for spelling, canonical, role, bare in keys:
            self.keys.setdefault(spelling.lower(), (canonical.lower(), role, bare))
        self.longest_first = sorted(self.keys, key=len, reverse=True)
        # WS = %x20 / %x09 (§2.2); AMB-10 for VT and FF.
        self.space = b" \t\v\f" if "ascii_whitespace" in self.switches else b" \t"


def faults(value: bytes, settings: Settings, pattern: bool) -> tuple[bool, list[str]]:
    """Return whether a value is usable, and the codes of its faults (§2.2, §3)."""
    usable, found = True, []
    if re.search(rb"[\x00-\x08\x0a-\x1f]", value):  # AMB-05
        if "keep_controls" not in settings.switches:
            return False, ["control-character"]
        found.append("control-kept")
    try:
        value.decode()
    except UnicodeDecodeError:
        found.append("invalid-utf8")  # AMB-06
        usable = "keep_invalid_utf8" in settings.switches
    if pattern and (b" " in value or b"\t" in value):
        found.append("space-in-pattern")  # AMB-11
        usable = usable and "keep_spaces" in settings.switches
    return usable, found
