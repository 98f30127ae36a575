"""The state: what is committed together, the lease, and the limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from robotrules.client.stores import SQLiteStore
from robotrules.client.stores.sqlite_tables import open_database
from robotrules.errors import StoreError
from robotrules.operations.watch import state as state_module
from robotrules.operations.watch.comparison import Baseline, advance
from robotrules.operations.watch.events import WatchEvent
from robotrules.operations.watch.observations import FileObservation, RedirectSeen, SitemapSeen
from robotrules.operations.watch.state import WatchState
from tests.operations.watch.samples import ORIGIN, between, file, looks, page

CHANNELS = [("stdout", "stdout"), ("webhook:1", "webhook example.org")]
TARGET = f"{ORIGIN}/robots.txt"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a store."""
    return tmp_path / "store.sqlite"


@pytest.fixture
def state(path: Path) -> Iterator[WatchState]:
    """A state whose lease this process has."""
    with WatchState(path) as opened:
        opened.acquire()
        yield opened


def change(number: int) -> WatchEvent:
    """Return an event."""
    [event] = between(file("User-agent: *\n"), file(f"User-agent: *\nDisallow: /{number}\n"))
    return event


class TestTargets:
    """Baselines survive."""

    def test_a_baseline_survives(self, state: WatchState, path: Path) -> None:
        """All parts of an observation, the body too, in another process."""
        hop = (RedirectSeen(TARGET, 301, "/x"),)
        seen = file(b"\xff\x00\n", redirects=hop, sitemaps=(SitemapSeen("/s", 1, False),))
        baseline, _ = advance(Baseline(), seen)
        state.record(TARGET, baseline, (), CHANNELS)
        both, _ = looks(page(tags={"*": {"noindex": "meta"}}, redirects=hop))
        state.record(f"{ORIGIN}/a", both, (), CHANNELS)
        assert state.baseline(TARGET) == baseline
        other = WatchState(path)
        assert other.baseline(TARGET) == baseline
        assert other.baseline(f"{ORIGIN}/a") == both
        assert other.baseline("https://example.org/robots.txt") == Baseline()
        other.close()

    def test_no_store_is_kept_in_memory_only(self, state: WatchState, path: Path) -> None:
        """This process can compare the file; the next one cannot."""
        baseline, _ = advance(Baseline(), file("secret", may_store=False))
        state.record(TARGET, baseline, (), CHANNELS)
        assert state.baseline(TARGET) == baseline
        with WatchState(path) as other:
            seen = other.baseline(TARGET).observation
        assert isinstance(seen, FileObservation)
        assert seen.body is None
        assert seen.digest is not None
        assert b"secret" not in path.read_bytes()

    def test_events_are_in_the_outbox_of_every_channel_once(self, state: WatchState) -> None:
        """The same event again is not new."""
        event = change(1)
        assert state.record(TARGET, Baseline(), [event], CHANNELS) == 1
        assert state.record(TARGET, Baseline(), [event], CHANNELS) == 0
        for key, _ in CHANNELS:
            [pending] = state.pending(key, 0.0, 10)
            assert pending.event == event
        assert state.next_due("stdout") == 0.0
        assert state.next_due("other") is None

    def test_a_failed_commit_leaves_nothing(self, state: WatchState) -> None:
        """Baseline, event and outbox are one transaction."""
        broken = [("stdout", "stdout"), (None, "no key")]
        with pytest.raises(StoreError):
            state.record(TARGET, Baseline(failures=3), [change(1)], broken)  # type: ignore[arg-type]
        assert state.baseline(TARGET) == Baseline()
        assert state.last_events(10) == []
        assert state.pending("stdout", 0.0, 10) == []


class TestLimits:
    """Nothing grows for ever."""

    def test_old_events_are_forgotten_after_delivery(self, state: WatchState) -> None:
        """The last ones are kept, and those that are undelivered."""
        with mock.patch.object(state_module, "MAX_EVENTS", 3):
            for number in range(6):
                state.record(TARGET, Baseline(), [change(number)], CHANNELS[:1])
            assert len(state.last_events(10)) == 6
            state.acknowledge("stdout", [one.number for one in state.pending("stdout", 0, 5)])
            assert len(state.last_events(10)) == 3

    def test_a_channel_that_never_accepts(self, state: WatchState) -> None:
        """Of too many events the oldest are given up, and counted."""
        with mock.patch.object(state_module, "MAX_PENDING", 2):
            for number in range(5):
                state.record(TARGET, Baseline(), [change(number)], CHANNELS[:1])
        [channel] = state.channels()
        assert (channel.pending, channel.dropped) == (2, 3)
        assert channel.as_dict()["dropped"] == 3
        assert "/4*" in state.pending("stdout", 0.0, 9)[-1].event.sentence


class TestLease:
    """One process at a time."""

    def test_a_second_process_is_refused(self, state: WatchState, path: Path) -> None:
        """With the process that has it, and what to do; another name is another watch."""
        with WatchState(path) as second, pytest.raises(StoreError, match="another process"):
            second.acquire()
        with WatchState(path, "other") as other:
            other.acquire()
            assert other.holder() is not None
        assert "process" in (state.holder() or "")

    def test_it_is_free_after_close(self, path: Path) -> None:
        """And before anyone has it."""
        for _ in range(2):
            with WatchState(path) as opened:
                assert opened.holder() is None
                opened.acquire()
                opened.renew()

    def test_the_lease_of_a_dead_process_is_taken_over(self, path: Path) -> None:
        """At once, not after minutes."""
        first = WatchState(path)
        first.acquire()
        with (
            mock.patch.object(state_module, "is_dead", return_value=True),
            WatchState(path) as second,
        ):
            second.acquire()
            # The first one was not dead, but asleep: it writes nothing any more.
            with pytest.raises(StoreError, match="taken over"):
                first.record(TARGET, Baseline(), [change(1)], CHANNELS)
            assert second.last_events(5) == []
        first.close()

    def test_without_the_lease_nothing_is_written(self, path: Path) -> None:
        """A state that was only opened is for reading."""
        with WatchState(path) as opened, pytest.raises(StoreError):
            opened.put_note("stdout", 1)


class TestFile:
    """Which files hold a state."""

    def test_it_is_in_the_store_of_robots_txt_files(self, path: Path, state: WatchState) -> None:
        """The store works as before, with the tables of a watch in it."""
        state.record(TARGET, Baseline(), [change(1)], CHANNELS)
        store = SQLiteStore(path)
        assert list(store.entries()) == []
        assert store.prune(1e12) == 0
        store.close()
        assert len(state.last_events(5)) == 1

    @pytest.mark.parametrize(
        "where", ["memory:", "redis://127.0.0.1:1/", "postgresql://127.0.0.1/x"]
    )
    def test_other_stores_are_refused(self, where: str) -> None:
        """They cannot hold a state; the error says what can."""
        with pytest.raises(StoreError, match="SQLite"):
            WatchState(where)

    def test_another_file_is_refused(self, tmp_path: Path) -> None:
        """A file of another program is left alone."""
        other = tmp_path / "text"
        other.write_text("this is not a database, and long enough to be none" * 20)
        with pytest.raises(StoreError):
            WatchState(other)

    def test_a_newer_state_is_refused(self, path: Path) -> None:
        """As the store itself does."""
        WatchState(path).close()
        db = open_database(path, 1.0)
        db.execute("UPDATE watch_names SET version = 99")
        db.close()
        with pytest.raises(StoreError, match="newer"):
            WatchState(path)

    def test_a_damaged_file(self, state: WatchState) -> None:
        """Errors of SQLite are translated."""
        state._db.execute("DROP TABLE watch_outbox")
        with pytest.raises(StoreError):
            state.pending("stdout", 0.0, 1)
        with pytest.raises(StoreError):
            state.acknowledge("stdout", [1])
