"""
Judging: a question and a parsed robots.txt in, passed or failed out, with why.

Verdicts are asked for one URL; `all-allowed` and `all-disallowed` for every URL that a path pattern
matches, which the exact analysis decides: a failure shows a shortest URL that is otherwise, and a
question that is not decided within the budget fails and says so. Tags, preferences and app
directives are those of `robotrules.guidance`. It does no I/O: pages are handed in.
"""

from __future__ import annotations

from collections.abc import Callable

from robotrules.analysis.solver import IMPLICIT, MAX_STATES, NOBODY, Solver, vetted
from robotrules.analysis.values import Undecided, Witness
from robotrules.errors import WrongWitnessError
from robotrules.expect.crawlers import hint_name
from robotrules.expect.page_expectations import of_directives, of_file, of_preferences, of_tags
from robotrules.expect.report_lines import between, told_record, told_verdict, why_groups
from robotrules.expect.values import OBEYED, Carriers, ExpectationResult, Question
from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.octets import visible
from robotrules.registries.crawlers import KnownCrawler, crawler
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
    budget: int = MAX_STATES,
    literal: bool = True,
) -> ExpectationResult:
    """
    Return whether a robots.txt, and a page where one is named, are as expected.

    *carriers* is what was read of the page; *origin* is where paths are. A crawler is asked about
    by its names alone; unless it is *literal*, a well-known one chooses groups as its operator
    documents it, which is what `robotrules test` does.
    """
    known = None if literal else known_crawler(question)
    asked = question._replace(crawler=known.names) if known else question
    found = _judged(asked, robots, carriers, origin, budget)
    if known is not None:
        explanation = found.explanation and found.explanation._replace(known=known)
        found = found._replace(
            question=question,
            known=known,
            explanation=explanation,
            reading=_reading(known, robots),
        )
    hint = hint_name(question.crawler, robots)
    return found._replace(hint=hint) if hint else found


def _reading(known: KnownCrawler, robots: RobotsTxt) -> str:
    """Return how a well-known crawler reads the file, if its name alone would say less."""
    # Most obey the group that has their name, or the star's, as anybody does.
    whole = is_compared_whole(known.product_token, robots.profile)
    alone = robots.select_groups(known.names[:1]).indices if whole else None
    if robots.select_groups(known.names).indices == alone and known.obeys in ("yes", "not said"):
        return ""
    return f"{known.product_token} {' and '.join(known.departures)} ({known.source})"


def known_crawler(question: Question) -> KnownCrawler | None:
    """Return the well-known crawler that a question about groups names, if it names one alone."""
    # Tags name crawlers in their own way: a page's `googlebot` is not for Applebot.
    if question.key in ("tags", "no-tags", "only-tags") or len(question.crawler) != 1:
        return None
    return crawler(question.crawler[0])


def _judged(
    question: Question,
    robots: RobotsTxt,
    carriers: Carriers | None,
    origin: str | None,
    budget: int,
) -> ExpectationResult:
    key = question.key
    if key in ("allowed", "disallowed"):
        return _one_url(question, robots, origin)
    if key in ("all-allowed", "all-disallowed"):
        return _all_urls(question, robots, budget)
    if key == "obeys":
        return _obeys(question, robots)
    if key == "crawl-delay":
        return _delay(question, robots)
    return _OTHERS[key](question, robots, carriers or Carriers(), origin)


_OTHERS: dict[str, Callable[[Question, RobotsTxt, Carriers, str | None], ExpectationResult]] = {
    **dict.fromkeys(("tags", "no-tags", "only-tags"), of_tags),
    **dict.fromkeys(("app-directives", "no-app-directives"), of_directives),
    **dict.fromkeys(("sitemaps", "records", "no-records"), of_file),
    "preferences": of_preferences,
}


# --- One URL --------------------------------------------------------------------------------------


def _one_url(question: Question, robots: RobotsTxt, origin: str | None) -> ExpectationResult:
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
        cure = "the verdict is as expected, and another line decides: correct by-line or by-rule"
    else:
        cure = _cure(question, robots, found, url)
    return ExpectationResult(
        question,
        False,
        expected,
        visible(str(verdict)),
        cure,
        told_verdict(robots, found),
        found,
    )


def _is_rule(rule: Rule | None, written: str) -> bool:
    if rule is None:
        return False
    key, _, pattern = written.partition(":")
    return rule.key.lower() == key.strip().lower() and rule.pattern == pattern.strip()


def _cure(question: Question, robots: RobotsTxt, found: Explanation, url: str) -> str:
    """Say what would make a verdict the expected one."""
    wanted, verdict = bool(question.value), found.verdict
    name, path = visible(found.product_token), visible(found.path)
    star = robots.check(url, "*")
    if found.matched_by is GroupMatch.TOKEN and star.allowed == wanted and star.rule is not None:
        return (
            f"{name} has a group of its own, so it does not read line {star.line} of the group for "
            f"'*': repeat the rule in its own group, {between(*found.groups[0].lines)}"
        )
    if verdict.rule is None:
        if not found.groups and name == "*":
            return f"no group is for '*': add one with a rule that matches {path}"
        if not found.groups:
            return (
                f"no group is for {name}: add one, or one for '*', with a rule that matches {path}"
            )
        where = between(*found.groups[0].lines)
        return f"no rule matches {path}: add a Disallow rule that does to the group of {where}"
    rule = f"line {verdict.rule.line}"
    octets = verdict.rule.octets
    if wanted:
        return (
            f"change {rule}, or add an Allow rule that matches {path} with {_octets(octets)} or "
            "more: allow wins a tie"
        )
    more = f"more than {_octets(octets)}"
    return f"change {rule}, or add a Disallow rule that matches {path} with {more}"


def _octets(count: int) -> str:
    return f"{count:,} octet" if count == 1 else f"{count:,} octets"


# --- All URLs -------------------------------------------------------------------------------------


def _all_urls(question: Question, robots: RobotsTxt, budget: int) -> ExpectationResult:
    wanted, pattern = bool(question.value), question.url or "/"
    rules = robots.rules_for(question.crawler, question.about.purposes)
    otherwise = counterexample(rules, pattern, wanted, budget=budget)
    expected = f"all of {visible(pattern)} {WORDS[wanted]}"
    if otherwise is None:
        return ExpectationResult(question, True, expected, "proved for every URL")
    if isinstance(otherwise, Undecided):
        return ExpectationResult(
            question,
            False,
            expected,
            str(otherwise),
            "ask about a narrower pattern, or allow more states: budget under [test] in "
            "robotrules.toml, or --budget",
            undecided=True,
        )
    if otherwise == NOTHING:
        cure = "correct the pattern: as it stands, nothing is expected"
        return ExpectationResult(question, False, expected, "no URL matches this pattern", cure)
    found = robots.explain(otherwise.url, question.crawler, question.about.purposes)
    return ExpectationResult(
        question,
        False,
        expected,
        f"{visible(str(otherwise))} is {visible(str(found.verdict))}",
        _cure(question, robots, found, otherwise.url),
        told_verdict(robots, found),
        found,
        witness=str(otherwise),
    )


# In place of a witness: the pattern matches no URL at all.
NOTHING = Witness("")


def counterexample(
    rules: RuleSet, pattern: str | bytes, allowed: bool, *, budget: int = MAX_STATES
) -> Witness | Undecided | None:
    """
    Return a shortest URL that a path pattern matches and whose verdict is not *allowed*.

    None: there is none, and that is proved. `NOTHING`: no URL matches the pattern, so nothing is
    said. Among those that should be disallowed `/robots.txt` is left out, for it is allowed
    whatever the rules say (RFC 9309 §2.2.2).
    """
    matching = RuleSet.from_patterns([pattern], rules.profile, get_engine(rules))
    solver = Solver(rules, matching, budget=budget)
    mine, around = solver.sides
    # Under profile google the rule of an index page stands for its directory, too; a question
    # does not, so what is written counts, which is longer.
    own = max(around.of(0), key=lambda at: len(around.entries[at].form), default=None)
    if own is None:
        return NOTHING
    inside = [own << 1 | 1], False
    implicit = [at for at, entry in mine.entries.items() if entry.rule == IMPLICIT]
    found = solver.seek(inside, mine.saying(not allowed, implicit))
    if not found.decided:
        return Undecided(solver.states)
    if found.path is None:
        some = solver.seek_any(inside, mine.saying(allowed))
        return NOTHING if some.decided and some.path is None else None
    at = solver.decider(mine, found.path)
    rule = None if at == NOBODY else mine.rule(at)
    witness = vetted(found.path, [(rules, not allowed, rule)])
    if not matching.matches(witness.url)[1]:
        raise WrongWitnessError(f"{witness} is said to match {pattern!r}: please report this")
    return witness


# --- Groups and delays ----------------------------------------------------------------------------


def _obeys(question: Question, robots: RobotsTxt) -> ExpectationResult:
    found = robots.explain("/", question.crawler, question.about.purposes)
    is_own = OBEYS[found.matched_by]
    expected, passed = OBEYED[question.value], is_own == question.value
    cure = "" if passed else f'correct the user-agent lines, or say obeys = "{is_own}"'
    words = why_groups(found)
    return ExpectationResult(question, passed, expected, OBEYED[is_own] + f" ({words})", cure)


def _delay(question: Question, robots: RobotsTxt) -> ExpectationResult:
    found = crawl_delay(robots, question.crawler, question.about.purposes)
    wanted = question.value
    expected = "none" if wanted is False else f"{wanted:g} s"
    if found is None:
        cure = "" if wanted is False else "add a Crawl-delay record to the group that it obeys"
        return ExpectationResult(question, wanted is False, expected, "none", cure)
    passed = wanted is not False and found.seconds == wanted
    told = () if passed else told_record(robots, found.record, "this record counts")
    cure = "" if passed else f"correct line {found.line}"
    return ExpectationResult(
        question, passed, expected, f"{found.seconds:g} s by line {found.line}", cure, told
    )
