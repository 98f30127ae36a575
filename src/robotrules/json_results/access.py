"""
How a robots.txt was fetched, as plain values for JSON, and the sentence about its response.

The text output of commands uses the same sentence (`cli/access_text.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robotrules.access import FailureReason
from robotrules.cache import format_timestamp
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import FetchRecord
    from robotrules.client.origin_state import OriginState

# How much of an error message is shown.
LONGEST = 200


def describe_response(record: FetchRecord) -> str:
    """Return the response, or why there was none: `status 503`, `no answer in time`."""
    if record.failure_reason is None or record.failure_reason is FailureReason.STATUS:
        return f"status {record.status}{', unchanged' if record.revalidated else ''}"
    return describe_failure(record.failure_reason, record.detail)


def describe_failure(reason: FailureReason, detail: str) -> str:
    """Return a failure as text: the reason, and the details of the transport."""
    if reason is FailureReason.REFUSED:
        # The rest is advice for the API; the command line has its own.
        detail = detail.partition("; ")[0]
    detail = visible(detail)
    detail = detail if len(detail) <= LONGEST else f"{detail[: LONGEST - 1]}…"
    beside = f": {detail}" if detail and detail != reason.sentence else ""
    return f"{reason.sentence}{beside}"


def access_values(origin_state: OriginState | None) -> dict[str, Any]:
    """Return how a robots.txt was fetched, as plain values for JSON."""
    record, failed = (
        (origin_state.fetch_record, origin_state.entry.last_failure)
        if origin_state
        else (None, None)
    )
    return {
        "origin": origin_state.origin if origin_state else None,
        "state": str(origin_state.state) if origin_state else None,
        "status": record.status if record else None,
        "failure_reason": str(record.failure_reason) if record and record.failure_reason else None,
        "source": str(origin_state.source) if origin_state else None,
        "fetched_at": format_timestamp(record.at) if record else None,
        "until": format_timestamp(origin_state.until) if origin_state else None,
        "failed_at": format_timestamp(failed.at) if failed else None,
        "failure": describe_response(failed) if failed else None,
    }
