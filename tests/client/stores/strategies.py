"""Hypothesis strategies for fetch records and entries: every value a row can contain."""

from __future__ import annotations

from hypothesis import strategies as st

from robotrules.access import AccessState, FailureReason, Hop
from robotrules.cache import Entry, FetchRecord, Provenance
from robotrules.http.fields import Fields

# All code points, halves of surrogate pairs too.
TEXTS = st.text(st.characters(), max_size=20) | st.sampled_from(["\ud800\udc00", "\udc80", "\0"])
MOMENTS = st.floats(allow_nan=False)
VISITS = st.builds(
    FetchRecord,
    origin=TEXTS,
    agent=TEXTS,
    user_agent=TEXTS,
    at=MOMENTS,
    state=st.sampled_from(AccessState),
    status=st.none() | st.integers(),
    failure_reason=st.none() | st.sampled_from(FailureReason),
    detail=TEXTS,
    url=TEXTS,
    hops=st.lists(st.builds(Hop, TEXTS, st.integers(), TEXTS), max_size=3).map(tuple),
    fields=st.builds(
        Fields,
        st.lists(st.tuples(TEXTS, st.binary(max_size=20)), max_size=4).map(tuple),
        st.booleans(),
    ),
    digest=st.none() | TEXTS,
    size=st.integers(),
    complete=st.booleans(),
    revalidated=st.booleans(),
    until=MOMENTS,
    may_store=st.booleans(),
    address=st.none() | TEXTS,
    provenance=st.none() | st.builds(Provenance, TEXTS, TEXTS, MOMENTS),
)
ENTRIES = st.builds(
    Entry,
    origin=TEXTS,
    agent=TEXTS,
    last_success=st.none() | VISITS,
    last_failure=st.none() | VISITS,
    failing_since=MOMENTS,
    failures=st.integers(),
)
