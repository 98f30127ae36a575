"""
Checks: verdicts on URLs of any origin, as `robotrules check --json` prints them.

Most questions are about an origin whose robots.txt is in memory. What their answers have in common
is kept for each crawler and origin: the compiled rules, and the JSON after the URL for each rule
that has decided. It is dropped when the client has another state of the origin.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from robotrules.cache import EffectivePolicy
from robotrules.client.memory_cache import estimate_parsed_bytes
from robotrules.client.origin_state import OriginState
from robotrules.json_results.check import line_end
from robotrules.robotstxt.verdict import Verdict
from robotrules.service.live.fetching import Fetching
from robotrules.service.live.questions import QuestionedCrawler, is_unusual, vet_url

# What is kept, in estimated bytes of memory; when there is more, all is dropped. A crawler counts
# the whole file of each origin, because it keeps the file alive. A rule may be as long as a file.
MAX_KEPT = 32 * 1024 * 1024
LONGEST_KEPT = 4 * 1024
# The approximate size of the rules of one crawler, without the file.
RULES_SIZE = 2 * 1024
# That of an answer, beside its text.
END_SIZE = 512
URL_START = b'{"url": '

encode = msgspec.json.Encoder().encode


class _Answers:
    """What is kept for a crawler and an origin."""

    __slots__ = ("check", "ends", "state")

    def __init__(self, state: OriginState, check: Callable[[str], Verdict]) -> None:
        self.state = state
        self.check = check
        # By identity, because rule sets share verdicts; they are kept, so identities stay unique.
        self.ends: dict[int, tuple[bytes, Verdict]] = {}


class Checks:
    """Answers checks of one worker."""

    def __init__(self, fetching: Fetching) -> None:
        self._fetching = fetching
        self._bytes = 0
        # Those that keep answers, also if `Crawlers` has dropped them.
        self._keepers: set[QuestionedCrawler] = set()

    async def answer(self, url: str, crawler: QuestionedCrawler, *, queue: bool = False) -> bytes:
        """Return the JSON of a check; *queue*: wait if many fetches are in progress."""
        return self.ready(url, crawler) or await self.fetched(url, crawler, queue=queue)

    def ready(self, url: str, crawler: QuestionedCrawler) -> bytes | None:
        """Return the JSON of a check from memory; None: the origin has to be looked up."""
        state = self._fetching.client(crawler.profile).cached(url)
        if state is None:
            return None
        answers = crawler.answers.get(state.origin)
        if is_unusual(url):
            vet_url(url, self._fetching)
        if answers is None or answers.state is not state:
            self._fetching.require_host(state.origin)
            answers = self._keep(state, crawler)
        verdict = answers.check(url)
        kept = answers.ends.get(id(verdict))
        end = kept[0] if kept is not None else self._make_end(answers, verdict, crawler)
        return URL_START + encode(url) + end

    async def fetched(self, url: str, crawler: QuestionedCrawler, *, queue: bool = False) -> bytes:
        """Return the JSON of a check after a lookup in the store or a fetch."""
        vet_url(url, self._fetching)
        state = await self._fetching.state(crawler.profile, url, queue=queue)
        verdict = state.check(url, crawler.names, crawler.purposes)
        return URL_START + encode(url) + self._end_of(verdict, crawler, state)

    def _keep(self, state: OriginState, crawler: QuestionedCrawler) -> _Answers:
        check: Callable[[str], Verdict]
        if state.policy is EffectivePolicy.RULES:
            check = state.robots.rules_for(crawler.names, crawler.purposes).check
        else:
            check = _SharedVerdicts(state, crawler).check
        robots = state.robots
        self._count(RULES_SIZE + len(robots.body) + estimate_parsed_bytes(robots))
        self._keepers.add(crawler)
        answers = crawler.answers[state.origin] = _Answers(state, check)
        return answers

    def _make_end(self, answers: _Answers, verdict: Verdict, crawler: QuestionedCrawler) -> bytes:
        end = self._end_of(verdict, crawler, answers.state)
        if len(end) <= LONGEST_KEPT:
            self._count(END_SIZE + len(end))
            answers.ends[id(verdict)] = end, verdict
        return end

    def _end_of(self, verdict: Verdict, crawler: QuestionedCrawler, state: OriginState) -> bytes:
        end = end_of(verdict, crawler, state)
        hint = self._fetching.hint(state)
        return end if hint is None else end[:-1] + b', "hint": ' + encode(hint) + b"}"

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > MAX_KEPT:
            for crawler in self._keepers:
                crawler.answers.clear()
            self._keepers.clear()
            self._bytes = size


class _SharedVerdicts:
    """Verdicts where no rules apply: few, and made once each."""

    __slots__ = ("_crawler", "_state", "_verdicts")

    def __init__(self, state: OriginState, crawler: QuestionedCrawler) -> None:
        self._state, self._crawler = state, crawler
        self._verdicts: dict[Verdict, Verdict] = {}

    def check(self, url: str) -> Verdict:
        """Return the verdict on a URL."""
        crawler = self._crawler
        verdict = self._state.check(url, crawler.names, crawler.purposes)
        return self._verdicts.setdefault(verdict, verdict)


def end_of(verdict: Verdict, crawler: QuestionedCrawler, state: OriginState) -> bytes:
    """Return the JSON of a check after its URL."""
    choice = crawler.choice
    end = line_end(
        *(verdict, choice.name, crawler.given_purposes, choice.known_dict),
        fetched=True,
        origin_state=state,
    )
    return end.encode("ascii")
