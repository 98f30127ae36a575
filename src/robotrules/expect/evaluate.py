"""
Evaluation: whether a parsed robots.txt meets an expectation, and why not.

`allowed` and `disallowed` are about one URL; `all-allowed` and `all-disallowed` about every URL
that a path pattern matches, which the exact analysis decides: a failure shows a shortest URL with
the other verdict, and a question that is not decided within the state limit fails and says so.
Tags, preferences and app directives are those of `robotrules.guidance`. The module does no I/O: the
caller passes pages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from robotrules.analysis.solver import IMPLICIT, MAX_STATES, NO_ENTRY, Solver, verify_witness
from robotrules.analysis.values import Undecided, Witness
from robotrules.errors import WrongWitnessError
from robotrules.expect.page_expectations import (
    evaluate_directives,
    evaluate_preferences,
    evaluate_records,
    evaluate_tags,
)
from robotrules.expect.report_lines import (
    describe_groups,
    format_line_range,
    record_lines,
    verdict_lines,
)
from robotrules.expect.values import OBEYED, Carriers, ExpectationResult, Question
from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.octets import visible
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler, crawler
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import get_engine
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import is_compared_whole
from robotrules.robotstxt.values import Rule
from robotrules.robotstxt.verdict import Explanation, GroupMatch

WORDS = {True: "allowed", False: "disallowed"}
OBEYS = {
    GroupMatch.TOKEN: "own",
    GroupMatch.PURPOSE: "purpose",
    GroupMatch.STAR: "star",
    GroupMatch.NONE: "none",
}


def evaluate(
    question: Question,
    robots: RobotsTxt,
    carriers: Carriers | None = None,
    *,
    origin: str | None = None,
    max_states: int = MAX_STATES,
    literal: bool = True,
) -> ExpectationResult:
    """
    Return whether a robots.txt, and a page if the question names one, are as expected.

    *carriers* has the content of the page; paths belong to *origin*. A crawler selects groups by
    its names alone; unless *literal*, a well-known one selects them as its operator documents,
    which is what `robotrules test` does.
    """
    known = None if literal else known_crawler(question)
    expanded = question._replace(crawler=known.names) if known else question
    found = _evaluate(expanded, robots, carriers, origin, max_states)
    if known is not None:
        explanation = found.explanation and found.explanation._replace(known=known)
        found = found._replace(
            question=question,
            known=known,
            explanation=explanation,
            reading=_describe_reading(known, robots),
        )
    hint = _misspelling_hint(question.crawler, robots)
    return found._replace(hint=hint) if hint else found


def _describe_reading(known: KnownCrawler, robots: RobotsTxt) -> str:
    """Return how a well-known crawler reads the file, if it does not select groups by name."""
    # Most obey the group that has their name, or that of `*`, as any crawler does.
    whole = is_compared_whole(known.product_token, robots.profile)
    alone = robots.select_groups(known.names[:1]).indices if whole else None
    if robots.select_groups(known.names).indices == alone and known.obeys in ("yes", "not said"):
        return ""
    return f"{known.product_token} {' and '.join(known.departures)} ({known.source})"


def known_crawler(question: Question) -> KnownCrawler | None:
    """Return the well-known crawler of a question about groups, if it names exactly one."""
    # Tags name crawlers in another way: a page's `googlebot` is not for Applebot.
    if question.key in ("tags", "no-tags", "only-tags") or len(question.crawler) != 1:
        return None
    return crawler(question.crawler[0])


@lru_cache(4096)
def _closest_crawler(name: str) -> KnownCrawler | None:
    found = KNOWN_CRAWLERS.closest(name)
    # Parsers do not read a name with spaces completely.
    return None if found and " " in found.product_token else found


def _misspelling_hint(names: tuple[str, ...], robots: RobotsTxt) -> str:
    """Return a hint for a name that is probably misspelt, unless the robots.txt has it too."""
    for name in names:
        known = _closest_crawler(name)
        if known is not None and robots.explain("/", name).matched_by is not GroupMatch.TOKEN:
            return (
                f"{visible(name)} is not in robots.txt. Do you mean {known.product_token}, of "
                f"{known.operator}?"
            )
    return ""


def _evaluate(
    question: Question,
    robots: RobotsTxt,
    carriers: Carriers | None,
    origin: str | None,
    max_states: int,
) -> ExpectationResult:
    key = question.key
    if key in ("allowed", "disallowed"):
        return _evaluate_url(question, robots, origin)
    if key in ("all-allowed", "all-disallowed"):
        return _evaluate_all_urls(question, robots, max_states)
    if key == "obeys":
        return _evaluate_groups(question, robots)
    if key == "crawl-delay":
        return _evaluate_delay(question, robots)
    return _OTHERS[key](question, robots, carriers or Carriers(), origin)


_OTHERS: dict[str, Callable[[Question, RobotsTxt, Carriers, str | None], ExpectationResult]] = {
    **dict.fromkeys(("tags", "no-tags", "only-tags"), evaluate_tags),
    **dict.fromkeys(("app-directives", "no-app-directives"), evaluate_directives),
    **dict.fromkeys(("sitemaps", "records", "no-records"), evaluate_records),
    "preferences": evaluate_preferences,
}


# --- One URL --------------------------------------------------------------------------------------


def _evaluate_url(question: Question, robots: RobotsTxt, origin: str | None) -> ExpectationResult:
    about, wanted = question.about, bool(question.value)
    url = question.url or "/"
    if origin is not None and url.startswith("/"):
        url = origin + url
    verdict = robots.check(url, question.crawler, about.purposes)
    by_line = about.by_line is None or verdict.line == about.by_line
    by_rule = about.by_rule is None or _is_rule(verdict.rule, about.by_rule)
    expected = WORDS[wanted]
    if about.by_line is not None:
        expected += f" by line {about.by_line}"
    if about.by_rule is not None:
        expected += f" by {visible(about.by_rule)}"
    if verdict.allowed == wanted and by_line and by_rule:
        return ExpectationResult(question, True, expected, visible(str(verdict)))
    found = robots.explain(url, question.crawler, about.purposes)
    if verdict.allowed == wanted:
        fix = "the verdict is as expected, but another line decides: correct by-line or by-rule"
    else:
        fix = _suggest_fix(question, robots, found, url)
    return ExpectationResult(
        question,
        False,
        expected,
        visible(str(verdict)),
        fix,
        verdict_lines(robots, found),
        found,
    )


def _is_rule(rule: Rule | None, written: str) -> bool:
    if rule is None:
        return False
    key, _, pattern = written.partition(":")
    return rule.key.lower() == key.strip().lower() and rule.pattern == pattern.strip()


def _suggest_fix(question: Question, robots: RobotsTxt, found: Explanation, url: str) -> str:
    """Return what would change a verdict to the expected one."""
    wanted, verdict = bool(question.value), found.verdict
    name, path = visible(found.product_token), visible(found.path)
    star = robots.check(url, "*")
    if found.matched_by is GroupMatch.TOKEN and star.allowed == wanted and star.rule is not None:
        return (
            f"{name} obeys its own group, not line {star.line} of the group for '*': repeat the "
            f"rule in its group, {format_line_range(*found.groups[0].lines)}"
        )
    if verdict.rule is None:
        if not found.groups and name == "*":
            return f"no group is for '*': add one with a rule that matches {path}"
        if not found.groups:
            return (
                f"no group is for {name}: add one, or one for '*', with a rule that matches {path}"
            )
        where = format_line_range(*found.groups[0].lines)
        return f"no rule matches {path}: add a Disallow rule for it to the group of {where}"
    rule = f"line {verdict.rule.line}"
    octets = verdict.rule.octets
    if wanted:
        return (
            f"change {rule}, or add an Allow rule that matches {path} with {_bytes(octets)} or "
            "more: Allow wins a tie"
        )
    more = f"more than {_bytes(octets)}"
    return f"change {rule}, or add a Disallow rule that matches {path} with {more}"


def _bytes(count: int) -> str:
    return f"{count:,} byte" if count == 1 else f"{count:,} bytes"


# --- All URLs -------------------------------------------------------------------------------------


def _evaluate_all_urls(question: Question, robots: RobotsTxt, max_states: int) -> ExpectationResult:
    wanted, pattern = bool(question.value), question.url or "/"
    rules = robots.rules_for(question.crawler, question.about.purposes)
    witness = counterexample(rules, pattern, wanted, max_states=max_states)
    expected = f"all of {visible(pattern)} {WORDS[wanted]}"
    if witness is None:
        return ExpectationResult(question, True, expected, "proved for every URL")
    if isinstance(witness, Undecided):
        return ExpectationResult(
            question,
            False,
            expected,
            str(witness),
            "use a narrower pattern, or allow more states: budget under [test] in "
            "robotrules.toml, or --max-states",
            undecided=True,
        )
    if witness == NOTHING:
        fix = "correct the pattern: with this one, nothing is checked"
        return ExpectationResult(question, False, expected, "no URL matches this pattern", fix)
    found = robots.explain(witness.url, question.crawler, question.about.purposes)
    return ExpectationResult(
        question,
        False,
        expected,
        f"{visible(str(witness))} is {visible(str(found.verdict))}",
        _suggest_fix(question, robots, found, witness.url),
        verdict_lines(robots, found),
        found,
        witness=str(witness),
    )


# Instead of a witness: the pattern matches no URL at all.
NOTHING = Witness("")


def counterexample(
    rules: RuleSet, pattern: str | bytes, allowed: bool, *, max_states: int = MAX_STATES
) -> Witness | Undecided | None:
    """
    Return a shortest URL that a path pattern matches and whose verdict is not *allowed*.

    None: proved that there is none. `NOTHING`: no URL matches the pattern. `/robots.txt` is not a
    counterexample to "disallowed", because it is always allowed (RFC 9309 §2.2.2).
    """
    matching = RuleSet.from_patterns([pattern], rules.profile, get_engine(rules))
    solver = Solver(rules, matching, max_states=max_states)
    mine, around = solver.sides
    # Under profile google a rule for an index page has a second entry for its directory; a question
    # does not, so the longer entry, the pattern as written, counts.
    own = max(around.entries_of(0), key=lambda at: len(around.entries[at].form), default=None)
    if own is None:
        return NOTHING
    inside = [own << 1 | 1], False
    implicit = [at for at, entry in mine.entries.items() if entry.rule == IMPLICIT]
    found = solver.find_witness(inside, mine.with_verdict(not allowed, implicit))
    if not found.decided:
        return Undecided(solver.states)
    if found.path is None:
        some = solver.find_any_witness(inside, mine.with_verdict(allowed))
        return NOTHING if some.decided and some.path is None else None
    at = solver.find_decider(mine, found.path)
    rule = None if at == NO_ENTRY else mine.rule(at)
    witness = verify_witness(found.path, [(rules, not allowed, rule)])
    if not matching.matches(witness.url)[1]:
        raise WrongWitnessError(f"{witness} does not match {pattern!r}: please report this")
    return witness


# --- Groups and delays ----------------------------------------------------------------------------


def _evaluate_groups(question: Question, robots: RobotsTxt) -> ExpectationResult:
    found = robots.explain("/", question.crawler, question.about.purposes)
    actual = OBEYS[found.matched_by]
    expected, passed = OBEYED[question.value], actual == question.value
    fix = "" if passed else f'correct the user-agent lines, or expect obeys = "{actual}"'
    text = f"{OBEYED[actual]} ({describe_groups(found)})"
    return ExpectationResult(question, passed, expected, text, fix)


def _evaluate_delay(question: Question, robots: RobotsTxt) -> ExpectationResult:
    found = crawl_delay(robots, question.crawler, question.about.purposes)
    wanted = question.value
    expected = "none" if wanted is False else f"{wanted:g} s"
    if found is None:
        fix = "" if wanted is False else "add a Crawl-delay record to the group that it obeys"
        return ExpectationResult(question, wanted is False, expected, "none", fix)
    passed = wanted is not False and found.seconds == wanted
    lines = () if passed else record_lines(robots, found.record, "this record applies")
    fix = "" if passed else f"correct line {found.line}"
    return ExpectationResult(
        question, passed, expected, f"{found.seconds:g} s by line {found.line}", fix, lines
    )
