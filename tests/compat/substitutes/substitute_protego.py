"""
A pytest plug-in: tests that import Protego get the one of `robotrules.compat`.

One test reads two private counters of Protego. They are computed here from the parsed file.
"""

# It replaces classes of other libraries at run time.
# mypy: ignore-errors

import protego

from robotrules.compat.protego import Protego, RequestRate, VisitTime


class CountingProtego(Protego):
    """Our Protego with the counters that Protego's test of line ends reads."""

    @property
    def _total_line_seen(self):
        return len(self.robots.lines)

    @property
    def _total_directive_seen(self):
        return len(self.robots.records)


protego.Protego = CountingProtego
protego.RequestRate = RequestRate
protego.VisitTime = VisitTime
