"""Rules by time: what was in force when, from a file, from git and from fetches."""

from __future__ import annotations

from pathlib import Path

import pytest

from robotrules import parse
from robotrules.access import Response
from robotrules.client.evidence import Evidence
from robotrules.client.stores import MemoryStore
from robotrules.operations.git_history import GitError, file_versions
from robotrules.operations.rule_history import (
    RuleChange,
    RuleHistory,
    fixed_rules,
    rules_from_evidence,
    rules_from_git,
    rules_from_versions,
)
from tests.client.histories import DAY, SITE, START, History, file, refused, rules
from tests.operations.repositories import Repository


def disallowed(history: RuleHistory, when: float) -> str | None:
    """Return which of /a and /b is disallowed at a time; None if the rules are not known."""
    robots = history.at(when).robots
    if robots is None:
        return None
    return "".join(path for path in ("/a", "/b") if not robots.check(path, "AnyBot"))


class TestTimes:
    """A change is in force from its time on."""

    @staticmethod
    def history(*times: float) -> RuleHistory:
        return RuleHistory(
            RuleChange(at, f"number {number}", lambda: parse(b""))
            for number, at in enumerate(times)
        )

    def test_at_a_time(self) -> None:
        history = self.history(10, 20)
        sources = [history.at(when).source for when in (9.9, 10, 19.9, 20, 1e12)]
        assert sources[1:] == ["number 0", "number 0", "number 1", "number 1"]
        assert sources[0] == "not known before 1970-01-01T00:00:10Z"
        assert (history.at(10).since, history.at(10).until) == (10, 20)
        assert (history.at(9).since, history.at(9).until, history.at(9).robots) == (None, 10, None)
        assert history.at(20).until is None

    def test_between(self) -> None:
        """All rules that a crawler with a copy may have acted on."""
        history = self.history(10, 20, 30)
        found = [rules.source for rules in history.between(15, 25)]
        assert found == ["number 0", "number 1"]
        assert len(history.between(0, 100)) == 4
        assert len(history.between(25, 15)) == 1

    def test_a_clock_that_went_back(self) -> None:
        """A commit that is older than its parent counts from its parent's time on."""
        history = self.history(10, 5, 20)
        assert [rules.source for rules in history] == ["number 0", "number 1", "number 2"]
        assert [rules.since for rules in history] == [10, 10, 20]
        assert history.at(10).source == "number 1"
        assert history.at(9).robots is None

    def test_by_number(self) -> None:
        history = self.history(10)
        assert history.after(0).robots is None
        assert history.after(1).source == "number 0"
        for number in (-1, 2):
            with pytest.raises(ValueError, match=f"number is {number}"):
                history.after(number)
        assert (len(history), repr(history)) == (1, "<RuleHistory: 1 changes>")

    def test_empty(self) -> None:
        history = self.history()
        assert history.at(5) == (None, None, None, "not known", True, None)
        assert list(history) == []


def test_one_file() -> None:
    """Today's file, at any time; its name is escaped."""
    history = fixed_rules(parse(rules("/a")), "robots\x1b.txt")
    for when in (0, 1e12):
        assert disallowed(history, when) == "/a"
    assert history.at(0).source == "robots\\x1b.txt (as it is now, at any time)"


class TestGit:
    """The versions of a repository."""

    def test_versions(self, tmp_path: Path) -> None:
        """Before the first commit nothing is known; without a file, all is allowed."""
        repository = Repository(tmp_path)
        repository.commit("one", robots_txt=rules("/a"))
        repository.commit("two", robots_txt=None)
        last = repository.commit("three", robots_txt=rules("/b"))
        times = [one.at for one in file_versions(tmp_path / "robots.txt")]
        history = rules_from_git(tmp_path / "robots.txt")
        found = [disallowed(history, when) for when in (times[0] - 1, *times)]
        assert found == [None, "/a", "", "/b"]
        assert [rules.has_file for rules in history] == [True, False, True]
        assert history.at(times[2]).source == f"robots.txt of commit {last[:10]} (2023-11-17)"
        assert history.at(times[1]).source.startswith("no robots.txt since commit")
        with pytest.raises(GitError, match="git knows no revision"):
            rules_from_git(tmp_path / "robots.txt", "nowhere")

    def test_rendered(self, tmp_path: Path) -> None:
        """A version that cannot be rendered is not known."""
        repository = Repository(tmp_path)
        repository.commit("one", policy_toml=b"a")
        repository.commit("two", policy_toml=b"bad")
        versions = file_versions(tmp_path / "policy.toml")
        rendered = {b"a": rules("/a")}
        history = rules_from_versions(versions, render=rendered.get)
        assert [disallowed(history, one.at) for one in versions] == ["/a", None]


class TestFetches:
    """What own fetches found."""

    @staticmethod
    def found(history: History, *days: float, **options: str) -> list[str | None]:
        rules = rules_from_evidence(Evidence(history.store), SITE, **options)
        return [disallowed(rules, START + day * DAY) for day in days]

    def test_files(self) -> None:
        """A file is in force until a fetch finds another; the same file is one change."""
        history = History()
        for day, path in enumerate(["/a", "/a", "/b", "/a"]):
            history.record_fetch(day, file(path))
        assert self.found(history, -1, 0, 1.5, 2.5, 9) == [None, "/a", "/a", "/b", "/a"]
        assert len(rules_from_evidence(Evidence(history.store), SITE)) == 3

    def test_unavailable_and_unreachable(self) -> None:
        """Without a file all is allowed; while it is unreachable, the last file stays."""
        history = History()
        history.record_fetch(0, refused())
        history.record_fetch(1, file("/a"))
        history.record_fetch(2, Response(503, []))
        history.record_fetch(3, Response(404, []))
        history.record_fetch(4, refused())
        history.record_fetch(5, file("/b"))
        found = self.found(history, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5)
        assert found == [None, "/a", "/a", "", "", "/b"]
        rules = rules_from_evidence(Evidence(history.store), f"{SITE}/")
        before = [START + day * DAY for day in range(5)]
        assert [one.changed_after for one in rules] == [None, *before]
        assert [one.has_file for one in rules] == [True, True, True, False, False, True]
        assert [one.source for one in rules] == [
            "unreachable since 2026-05-01T00:00:00Z, not fetched before",
            "robots.txt fetched 2026-05-02T00:00:00Z",
            "robots.txt fetched 2026-05-02T00:00:00Z; unreachable since 2026-05-03T00:00:00Z",
            "no robots.txt, requested 2026-05-04T00:00:00Z",
            "no robots.txt, requested 2026-05-04T00:00:00Z; unreachable since 2026-05-05T00:00:00Z",
            "robots.txt fetched 2026-05-06T00:00:00Z",
        ]

    def test_several_crawlers(self) -> None:
        """The last one that fetched, unless one is selected: files may differ by crawler."""
        history = History()
        history.record_fetch(0, file("/a"), agent="One")
        history.record_fetch(1, file("/b"), agent="Two")
        assert self.found(history, 0.5, 1.5) == [None, "/b"]
        assert self.found(history, 0.5, 1.5, agent="one") == ["/a", "/a"]
        assert self.found(history, 0.5, source="imported") == [None]

    def test_a_lost_file(self) -> None:
        """What the store lost is not known; read before the store is closed, it is kept."""
        history = History()
        history.record_fetch(0, file("/a"))
        store = history.store
        assert isinstance(store, MemoryStore)
        kept = rules_from_evidence(Evidence(store), SITE).loaded()
        rules = rules_from_evidence(Evidence(store), SITE)
        store.body = lambda digest: None  # type: ignore[method-assign]
        assert disallowed(rules, START) is None
        assert disallowed(kept, START) == "/a"
        assert len(rules_from_evidence(Evidence(MemoryStore()), SITE)) == 0

    def test_misuse(self) -> None:
        with pytest.raises(ValueError, match="has no origin"):
            rules_from_evidence(Evidence(MemoryStore()), "robots.txt")
