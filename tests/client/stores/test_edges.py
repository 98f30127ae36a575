"""Stores at their edges: the very moment, what is not there, and what misuse is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

from robotrules.cache import Store, digest_of, recorded
from robotrules.client.stores import MemoryStore, memory, rows
from robotrules.errors import StoreError
from tests.client.stores.made import AGENT, BODY, NOW, ORIGIN, made

OTHER = "https://other.example"


def words_of(error: type[Exception], act: Callable[[], object]) -> str:
    """Return the words of the error that something raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


class TestAllStores:
    """All of them do the same."""

    def test_to_forget_what_is_not_known(self, store: Store) -> None:
        """A visit without an entry is kept, whether or not there was an entry."""
        store.put(made(), None, None)
        assert store.get(ORIGIN, AGENT) is None
        assert list(store.visits()) == [made()]

    def test_to_release_what_is_not_held(self, store: Store) -> None:
        """Nothing happens, whatever the holder is called."""
        for holder in ("me", "", "XXXX"):
            store.release("key", holder)
        assert store.holder("key") is None

    def test_which_entry_is_newer(self, store: Store) -> None:
        """The last visit of the entry says so, and not the one that is put with it."""
        store.put(made(NOW), BODY, recorded(None, made(NOW + 10)))
        late = recorded(None, made(NOW + 20))
        store.put(made(NOW + 5), BODY, late)
        assert store.get(ORIGIN, AGENT) == late

    def test_what_is_left_of_an_origin(self, store: Store) -> None:
        """Its later visits are still its visits."""
        for n in range(3):
            store.put(made(NOW + n), BODY, None)
            store.put(made(NOW + n, origin=OTHER), BODY, None)
        assert store.prune_evidence(NOW + 1) == 2
        for origin in (ORIGIN, OTHER):
            assert [visit.at - NOW for visit in store.visits(origin)] == [1, 2]
        assert store.body(digest_of(BODY)) == BODY

    def test_turns_of_that_moment_stay(self, store: Store) -> None:
        """Those before it go."""
        for origin in (ORIGIN, OTHER):
            store.begin(origin, NOW if origin == ORIGIN else NOW - 1, 0)
        store.prune(NOW)
        assert store.begin(ORIGIN, NOW + 1, 10) == NOW + 10
        if not store.name.startswith("Redis"):  # where turns expire by themselves
            assert store.begin(OTHER, NOW + 1, 10) == NOW + 1

    def test_moments_without_end(self, store: Store) -> None:
        """A visit may hold for ever, or never have held."""
        for at, until in ((NOW, inf), (NOW + 1, -inf)):
            store.add([(made(at, until=until), None)])
        assert [visit.until for visit in store.visits()] == [inf, -inf]

    def test_misuse(self, store: Store) -> None:
        """The words say what, where and the cure."""
        words = f"a turn at {ORIGIN} at nan, 1 seconds after the last: use 0 or more"
        assert words_of(ValueError, lambda: store.reserve(ORIGIN, nan, 1)) == words
        assert words_of(ValueError, lambda: store.begin(ORIGIN, nan, 1)) == words
        words = "a lease of inf seconds on 'key': use more than 0, and an end"
        assert words_of(ValueError, lambda: store.lease("key", "me", inf)) == words


class TestMisuse:
    """What no store takes."""

    @pytest.mark.parametrize(
        ("changes", "body", "words"),
        [
            (
                {"agent": "a\n"},
                None,
                f"a visit to '{ORIGIN}' by 'a\\n': control characters are not allowed in an origin "
                "or an agent; pass the product token of the crawler as agent",
            ),
            (
                {"digest": "abc"},
                None,
                f"the visit to {ORIGIN} has the digest 'abc': use digest_of(body)",
            ),
            ({"at": nan}, None, f"the visit to {ORIGIN} has no time: `at` is nan"),
            (
                {},
                b"another",
                f"the body given for {ORIGIN} is not the one that the visit names: use "
                "digest_of(body) as its digest, or pass None as the body",
            ),
        ],
    )
    def test_visits(self, changes: dict[str, Any], body: bytes | None, words: str) -> None:
        """Each has its words."""
        assert words_of(ValueError, lambda: rows.vet(made(**changes), body)) == words
        assert words_of(ValueError, lambda: rows.vet_own(made(**changes), body)) == words

    def test_imported_visits(self) -> None:
        """They are no own fetches."""
        from robotrules.cache import Provenance

        given = made(provenance=Provenance("x.warc", "0" * 64, NOW))
        assert words_of(ValueError, lambda: rows.vet_own(given, None)) == (
            f"the visit to {ORIGIN} was imported from 'x.warc': put() keeps own fetches; use add()"
        )

    def test_no_number(self) -> None:
        """JSON has none for it."""
        words = "a time that is not a number: pass seconds since 1970"
        assert words_of(ValueError, lambda: rows.visit_row(made(until=nan))) == words

    def test_moments_in_rows(self) -> None:
        """What is infinite is a word there, and a number again."""
        for at in (inf, -inf):
            found = rows.read_visit(rows.visit_row(made(at, until=at)))
            assert found is not None
            assert (found.at, found.until) == (at, at)


class TestMemory:
    """The store in memory."""

    def test_closed(self) -> None:
        """It says so."""
        store = MemoryStore()
        store.close()
        assert words_of(StoreError, lambda: store.get(ORIGIN, AGENT)) == (
            "the store in memory was closed, and is gone: open another"
        )

    def test_the_moment_a_lease_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From then on it is free, and forgotten when the store is pruned."""
        now = [100.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        store = MemoryStore()
        assert store.lease("key", "me", 10)
        now[0] = 109.9
        assert (store.holder("key"), store.lease("key", "you", 1)) == ("me", False)
        store.prune(NOW)
        assert store.holder("key") == "me"
        now[0] = 110.0
        assert store.holder("key") is None
        store.prune(NOW)
        assert store._leases == {}
        assert store.lease("key", "me", 10)
        now[0] = 120.0
        assert store.lease("key", "you", 1)

    def test_forks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The lock is held over a fork; one that somebody else holds stays his in the parent."""
        store = MemoryStore()
        store.before_fork()
        assert store._lock.locked()
        store.after_fork()
        assert not store._lock.locked()
        monkeypatch.setattr(memory, "PATIENCE", 0.01)
        lock = store._lock
        with lock:
            store.before_fork()
            store.after_fork()
            assert store._lock is lock
            assert lock.locked()
            store.before_fork()
            store._process -= 1  # as in a child
            store.after_fork()
            assert store._lock is not lock
