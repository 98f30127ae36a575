"""Forward-confirmed reverse DNS: only the operator's own names count, and lookups are limited."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from robotrules.operations import reverse_dns
from robotrules.operations.reverse_dns import (
    Confirmation,
    ConfirmationOutcome,
    DnsLimits,
    DnsQuestion,
    ReverseDnsConfirmer,
    SystemResolver,
    confirm_address,
)
from tests.operations.resolvers import TableResolver

GOOGLE = ("googlebot.com", "google.com")
ADDRESS, NAME = "66.249.66.1", "crawl-66-249-66-1.googlebot.com"
CONFIRMED, OTHER_NAME = ConfirmationOutcome.CONFIRMED, ConfirmationOutcome.OTHER_NAME
NOT_CONFIRMED, NO_NAME = ConfirmationOutcome.NOT_CONFIRMED, ConfirmationOutcome.NO_NAME
NO_ANSWER = ConfirmationOutcome.NO_ANSWER


def outcome(names: list[str], addresses: dict[str, list[str]], address: str = ADDRESS) -> str:
    """Return the outcome for an address with these names."""
    return confirm_address(TableResolver({address: names}, addresses), address, GOOGLE).outcome


def test_confirmed() -> None:
    """The name is in a documented domain, and resolves back; case and a dot do not matter."""
    there = {NAME: [ADDRESS]}
    assert outcome([NAME], there) is CONFIRMED
    assert outcome([NAME.upper() + "."], there) is CONFIRMED
    assert outcome(["static.example.net", NAME], there) is CONFIRMED
    assert outcome([NAME], {NAME: ["192.0.2.1", f"::ffff:{ADDRESS}"]}) is CONFIRMED
    six = "2001:4860:4801:10::1"
    assert outcome([NAME], {NAME: ["2001:4860:4801:0010:0::1"]}, six) is CONFIRMED
    assert outcome(["googlebot.com"], {"googlebot.com": [ADDRESS]}) is CONFIRMED


@pytest.mark.parametrize(
    "name",
    [
        "static.example.net",
        "crawl.googlebot.com.evil.example",
        "fakegooglebot.com",
        "googlebot.com.",
        "x.googlebot.com\n",
        "x\x1b[31m.googlebot.com",
        "x y.googlebot.com",
        "x..googlebot.com",
        ".googlebot.com",
        "-x.googlebot.com",
        "é.googlebot.com",
        "x.googlebot。com",
        f"{'a' * 64}.googlebot.com",
        f"{'a.' * 130}googlebot.com",
        "x.googlebot.com..",
        "",
        ".",
    ],
)
def test_hostile_names(name: str) -> None:
    """A name of someone else, or none that the DNS allows: it is not looked up and not printed."""
    resolver = TableResolver({ADDRESS: [name]})
    found = confirm_address(resolver, ADDRESS, GOOGLE)
    if name == "googlebot.com.":
        assert found.outcome is NOT_CONFIRMED
        return
    assert found.outcome is OTHER_NAME
    assert resolver.asked == [ADDRESS]
    assert found.reason.isprintable()
    assert len(found.reason) < 200


def test_not_confirmed() -> None:
    """Anyone can give such a name to their own address."""
    assert outcome([NAME], {NAME: ["192.0.2.1", "nonsense", ""]}) is NOT_CONFIRMED
    assert outcome([NAME], {}) is NOT_CONFIRMED
    assert outcome([], {}) is NO_NAME


def test_many_names_are_not_read_further() -> None:
    """An address has few names, and a name few addresses."""
    assert outcome(["example.net"] * 8 + [NAME], {NAME: [ADDRESS]}) is OTHER_NAME
    assert outcome([NAME], {NAME: ["192.0.2.1"] * 64 + [ADDRESS]}) is NOT_CONFIRMED
    resolver = TableResolver({ADDRESS: [f"a{i}.google.com" for i in range(1000)]})
    confirm_address(resolver, ADDRESS, GOOGLE)
    assert len(resolver.asked) == 9


@pytest.mark.parametrize("error", [OSError(None, "no\x1b way"), TimeoutError(), UnicodeError()])
def test_no_answer(error: Exception) -> None:
    """A failure of the DNS proves nothing, in either lookup."""
    for resolver in (
        TableResolver({ADDRESS: error}),
        TableResolver({ADDRESS: [NAME]}, {NAME: error}),
    ):
        found = confirm_address(resolver, ADDRESS, GOOGLE)
        assert found.outcome is NO_ANSWER
        assert found.reason.startswith("the DNS did not answer: ")
        assert found.reason.isprintable()


class TestManyAddresses:
    """Lookups run at the same time, within limits."""

    @staticmethod
    def questions(count: int) -> list[DnsQuestion]:
        return [DnsQuestion(f"66.249.{i // 250}.{i % 250}", GOOGLE) for i in range(count)]

    def test_each_is_asked_once(self) -> None:
        """Also in a second batch; progress counts answers."""
        resolver = TableResolver()
        confirmer = ReverseDnsConfirmer(resolver)
        counted: list[int] = []
        questions = self.questions(50)
        first = confirmer.confirm_many([*questions, *questions], counted.append)
        assert first == confirmer.confirm_many(questions)
        assert set(first) == set(questions)
        assert len(resolver.asked) == sum(counted) == 50
        assert confirmer.confirm_many([]) == {}

    def test_at_the_same_time(self) -> None:
        """Sixteen by default."""
        meeting = threading.Barrier(16, timeout=20)
        resolver = TableResolver(wait=lambda text: meeting.wait())
        found = ReverseDnsConfirmer(resolver).confirm_many(self.questions(32))
        assert {answer.outcome for answer in found.values()} == {NO_NAME}

    def test_too_many(self) -> None:
        """Beyond the limit none is looked up, in this batch and the next."""
        resolver = TableResolver()
        confirmer = ReverseDnsConfirmer(resolver, DnsLimits(max_addresses=3))
        found = confirmer.confirm_many(self.questions(5))
        reasons = [answer.reason for answer in found.values()]
        assert reasons[3:] == ["not looked up: more than 3 addresses"] * 2
        confirmer.confirm_many(self.questions(5)[4:])
        assert len(resolver.asked) == 3

    @pytest.fixture
    def release(self) -> Iterator[threading.Event]:
        """Return what ends lookups that hang, at the latest with the test."""
        event = threading.Event()
        yield event
        event.set()

    def test_a_lookup_that_hangs_is_given_up(self, release: threading.Event) -> None:
        """The others go on in other threads; the answer is used if it comes late."""
        slow = self.questions(1)[0].address
        resolver = TableResolver(
            {slow: [NAME]}, {NAME: [slow]}, lambda text: text == slow and release.wait(30)
        )
        limits = DnsLimits(timeout=0.3, concurrency=1)
        confirmer = ReverseDnsConfirmer(resolver, limits)
        found = confirmer.confirm_many(self.questions(20))
        first, *others = found.values()
        assert first == Confirmation(NO_ANSWER, "the DNS did not answer within 0.3 seconds")
        assert {answer.outcome for answer in others} == {NO_NAME}

    def test_threads_are_limited(self, release: threading.Event) -> None:
        """If all hang, no more are started, and the budget ends the wait."""
        resolver = TableResolver(wait=lambda text: release.wait(30))
        limits = DnsLimits(timeout=0.05, budget=0.6, concurrency=2)
        before = threading.active_count()
        begun = time.monotonic()
        confirmer = ReverseDnsConfirmer(resolver, limits)
        found = confirmer.confirm_many(self.questions(40))
        assert time.monotonic() - begun < 5
        assert threading.active_count() - before <= 8
        assert {answer.outcome for answer in found.values()} == {NO_ANSWER}
        reasons = {answer.reason for answer in found.values()}
        assert "not looked up within 0.6 seconds for all addresses" in reasons
        # The budget is for all batches.
        begun = time.monotonic()
        confirmer.confirm_many([DnsQuestion("66.249.99.1", GOOGLE)])
        assert time.monotonic() - begun < 0.5

    def test_stuck_threads_that_return_are_used_again(self, release: threading.Event) -> None:
        """After the DNS has recovered, the rest is answered."""
        resolver = TableResolver(wait=lambda text: release.wait(30))
        limits = DnsLimits(timeout=0.05, budget=20, concurrency=1)
        timer = threading.Timer(0.6, release.set)
        timer.start()
        found = ReverseDnsConfirmer(resolver, limits).confirm_many(self.questions(12))
        timer.join()
        outcomes = [answer.outcome for answer in found.values()]
        assert outcomes[-1] is NO_NAME

    def test_a_bug_of_a_resolver_is_raised(self) -> None:
        """Where it was called, and not in a thread."""
        resolver = TableResolver({"66.249.0.0": ZeroDivisionError("oh")})
        with pytest.raises(ZeroDivisionError, match="oh"):
            ReverseDnsConfirmer(resolver).confirm_many(self.questions(3))

    @pytest.mark.parametrize("name", DnsLimits._fields)
    def test_misuse(self, name: str) -> None:
        """No limit may be zero, or no number."""
        values: list[Any] = [0, -1, float("nan")]
        for value in values:
            with pytest.raises(ValueError, match=f"{name} is .*: use more than 0"):
                ReverseDnsConfirmer(limits=DnsLimits()._replace(**{name: value}))


class TestSystemResolver:
    """What the system's resolver answers, and how it fails."""

    def test_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """All names of an address; a name is absolute, so that no search domain is added."""
        asked: list[str] = []

        def getaddrinfo(name: str, *_: object, **__: object) -> list[object]:
            asked.append(name)
            return [(2, 1, 6, "", (ADDRESS, 0)), (10, 1, 6, "", ("2001:db8::1", 0, 0, 0))]

        monkeypatch.setattr(socket, "gethostbyaddr", lambda text: (NAME, ["b.example"], [text]))
        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        assert SystemResolver().reverse(ADDRESS) == [NAME, "b.example"]
        assert SystemResolver().forward(NAME) == [ADDRESS, "2001:db8::1"]
        assert asked == [f"{NAME}."]

    @pytest.mark.parametrize(
        ("error", "is_answer"),
        [
            (socket.herror(1, "Unknown host"), True),
            (socket.herror(4, "No address"), True),
            (socket.herror(2, "Host name lookup failure"), False),
            (socket.gaierror(socket.EAI_NONAME, "unknown"), True),
            (socket.gaierror(socket.EAI_AGAIN, "try again"), False),
        ],
    )
    def test_failures(
        self, error: OSError, is_answer: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """That there is no name is an answer; that nobody knows is none."""

        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(socket, "gethostbyaddr", fail)
        monkeypatch.setattr(socket, "getaddrinfo", fail)
        lookups: list[Callable[[str], Sequence[str]]] = [SystemResolver().reverse]
        if isinstance(error, socket.gaierror):
            lookups.append(SystemResolver().forward)
        for look_up in lookups:
            if is_answer:
                assert look_up("x") == ()
            else:
                with pytest.raises(OSError, match=error.strerror or ""):
                    look_up("x")

    def test_it_is_the_default(self) -> None:
        """Nothing is looked up before it is asked."""
        assert reverse_dns.ReverseDnsConfirmer().limits == DnsLimits()
