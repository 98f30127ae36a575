"""A log report as parts of an HTML page."""

from __future__ import annotations

from robotrules.html_document import Html
from robotrules.operations.logs.summary import LogReport

__all__ = ["log_sections"]


def log_sections(report: LogReport) -> list[Html]:
    """Return the sections of a page about a report: charts, crawlers, violations, missing URLs."""
    raise NotImplementedError
