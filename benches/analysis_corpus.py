"""
The real corpus, studied: which rules decide nothing, which say nothing, and what could be left out.

Every rule set of every file: the groups that each named crawler obeys, and those of everyone else.
A list that a file repeats for many crawlers is analysed once and counted as often as it stands
there. Only figures are kept: no text of a file goes into a report.

Does not know: whether a rule that says nothing was meant to say something.
"""

from __future__ import annotations

import math
import statistics
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import table
from corpora import real
from corpora.real.stand_in import stand_in

Progress = Callable[[str], None]
# Bounds of the histogram, in milliseconds.
BOUNDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
BAR = 46


@dataclass
class Study:
    """What was found under one profile."""

    profile: str
    real: bool = True
    files: int = 0
    with_rules: int = 0
    sets: int = 0
    analysed: int = 0
    rules: int = 0
    dead: int = 0
    redundant: int = 0
    removed: int = 0
    empty: int = 0
    """Of those removed, how many are rules without a path pattern."""
    smaller: int = 0
    """Files in which a rule with a path pattern could be left out."""
    halved: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    reason_files: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    """Milliseconds for each file that has rules."""
    largest: list[tuple[float, int, int]] = field(default_factory=list)
    """Of slow files: milliseconds, rule sets analysed, rules of the largest."""
    undecided: list[dict[str, int]] = field(default_factory=list)
    octets: int = 0
    octets_saved: int = 0


def study(profile: str, every: int, progress: Progress) -> Study:
    """Analyse each *every*th file of the corpus."""
    found = Study(profile, real=(real.folder() / "corpus_a.tar.xz").exists())
    for number, body in enumerate(bodies()):
        if number % every == 0:
            if not number % (10 * every):
                progress(f"profile {profile}: file {number:,}")
            _file(found, body)
    return found


def bodies() -> Iterator[bytes]:
    """Every file of the corpus, or of the stand-in where there is none."""
    archive = real.folder() / "corpus_a.tar.xz"
    if not archive.exists():
        yield from (case.body for case in stand_in(2_000))
        return
    with tarfile.open(archive, "r|xz") as members:
        for member in members:
            stream = members.extractfile(member)
            if stream is not None and member.name != "INDEX.tsv":
                yield stream.read()


def _file(found: Study, body: bytes) -> None:
    import robotrules
    from robotrules import analysis

    found.files += 1
    robots = robotrules.parse(body, found.profile)
    sets: dict[tuple[int, ...], Any] = {}
    for crawler in analysis.crawlers(robots):
        groups = robots.select_groups(crawler.names, crawler.purposes).indices
        if groups not in sets:
            sets[groups] = robots.rules_for(crawler.names, crawler.purposes)
    sets = {groups: rules for groups, rules in sets.items() if len(rules)}
    if not sets:
        return
    found.with_rules += 1
    answers: dict[tuple[tuple[str, bool], ...], Counter[str]] = {}
    total: Counter[str] = Counter()
    why: Counter[str] = Counter()
    spent, most = 0.0, 0
    for rules in sets.values():
        written = tuple((rule.pattern, rule.allow) for rule in rules.rules)
        if written not in answers:
            start = time.process_time()
            answers[written] = _rule_set(found, rules)
            spent += time.process_time() - start
            most = max(most, len(written))
        total.update({"rules": len(written), "sets": 1})
        total.update(answers[written])
    for name, count in total.items():
        if name.startswith("because "):
            why[name.removeprefix("because ")] += count
    found.reasons.update(why)
    found.reason_files.update(dict.fromkeys(why, 1))
    found.analysed += len(answers)
    for name in ("sets", "rules", "dead", "redundant", "removed", "empty"):
        setattr(found, name, getattr(found, name) + total[name])
    found.octets += total["octets"]
    found.octets_saved += total["octets saved"]
    found.smaller += total["removed"] > total["empty"]
    found.halved += total["removed"] * 2 >= total["rules"] and total["removed"] > total["empty"]
    found.times.append(spent * 1000)
    found.largest = sorted([*found.largest, (spent * 1000, len(answers), most)], reverse=True)[:8]


def _rule_set(found: Study, rules: Any) -> Counter[str]:
    """Ask everything of one rule set, and count the answers."""
    from robotrules import analysis

    dead, redundant = analysis.dead_rules(rules), analysis.redundant_rules(rules)
    smaller = analysis.minimize(rules)
    undecided = {rule.line for answer in (dead, redundant, smaller) for rule in answer.undecided}
    if undecided:
        patterns = [rule.pattern for rule in rules.rules]
        found.undecided.append(
            {
                "rules": len(patterns),
                "with wildcards": sum("*" in pattern for pattern in patterns),
                "most wildcards": max(pattern.count("*") for pattern in patterns),
                "undecided": len(undecided),
                "states": max(dead.states, redundant.states, smaller.states),
            }
        )
    counted = Counter(
        {
            "dead": len(dead.rules),
            "redundant": len(redundant.rules),
            "removed": len(smaller.removed),
            "empty": sum(not one.rule.pattern for one in smaller.removed),
            "octets": sum(len(str(rule)) + 1 for rule in rules.rules),
            "octets saved": sum(len(str(one.rule)) + 1 for one in smaller.removed),
        }
    )
    counted.update(f"because {reason(one)}" for one in smaller.removed)
    return counted


def reason(one: Any) -> str:
    """Say in a few words why a rule can be left out, of a `Redundant`."""
    rule, instead = one.rule, one.instead
    alike = [other for other in instead if other.allow == rule.allow]
    if not rule.pattern:
        return "has no path pattern"
    if any(other.form == rule.form for other in alike):
        return "is written twice"
    if any(other.form.rstrip("*") == rule.form.rstrip("*") for other in alike):
        return "is written twice, once with a star at the end"
    if one.dead and not instead:
        if rule.pattern[:1] not in "/*":
            return "starts with neither / nor *"
        return "no URL is like it"
    if one.dead:
        if any(other.form == rule.form for other in instead):
            return "an Allow has the same pattern"
        return "more specific rules decide all of it"
    if rule.allow and not instead:
        return "allows what nothing disallows"
    return f"a broader {'Allow' if rule.allow else 'Disallow'} says it"


# --- What is printed ------------------------------------------------------------------------------


def lines(found: Study, below: int) -> Iterator[str]:
    """The study as text."""
    what = "the real corpus" if found.real else "STAND-IN: generated files"
    yield (
        f"Profile {found.profile}, {what}: {found.files:,} files, {found.with_rules:,} with rules; "
        f"{found.sets:,} rule sets, {found.analysed:,} of them different within their file; "
        f"{found.rules:,} rules."
    )
    yield ""
    rows: list[tuple[str, int]] = [
        ("dead: they decide no URL", found.dead),
        ("redundant: each alone could go", found.redundant),
        ("can go together (minimise)", found.removed),
        ("of these with a path pattern", found.removed - found.empty),
    ]
    share = [[name, f"{count:,}", _percent(count, found.rules)] for name, count in rows]
    yield table.render(["rules", "number", "of all"], share)
    yield ""
    yield (
        f"{found.smaller:,} files, {_percent(found.smaller, found.with_rules)} of these, "
        f"could leave out a rule with a path pattern, {found.halved:,} of them at least half of "
        f"their rules. It would save {_percent(found.octets_saved, found.octets)} of the octets in "
        "rules."
    )
    yield ""
    yield "Why a rule can go:"
    yield ""
    reasons = [
        [why, f"{count:,}", _percent(count, found.removed), f"{found.reason_files[why]:,}"]
        for why, count in sorted(found.reasons.items(), key=lambda item: (-item[1], item[0]))
    ]
    yield table.render(["the rule", "rules", "of those", "files"], reasons)
    yield ""
    yield from _time_lines(found)
    yield ""
    yield from _undecided_lines(found, below)


def _time_lines(found: Study) -> Iterator[str]:
    yield (
        "Processor time for one file: dead rules, redundant rules, minimise, of all its rule sets. "
        f"Median {table.milliseconds(statistics.median(found.times))}, mean "
        f"{table.milliseconds(statistics.fmean(found.times))}, all files "
        f"{sum(found.times) / 1000:,.0f} s."
    )
    yield ""
    yield "```text"
    counts = histogram(found.times)
    most = max(count for _, count in counts)
    for label, count in counts:
        bar = "#" * math.ceil(BAR * count / most)
        yield f"{label:>16}  {bar:<{BAR}}  {count:,}".rstrip()
    yield "```"
    yield ""
    slow = [
        [table.milliseconds(spent), f"{sets:,}", f"{rules:,}"]
        for spent, sets, rules in found.largest
    ]
    yield table.render(["the slowest files", "different rule sets", "rules of the largest"], slow)


def _undecided_lines(found: Study, below: int) -> Iterator[str]:
    few = [one for one in found.undecided if one["rules"] < below]
    yield (
        f"Not decided within the budget: {len(found.undecided):,} rule sets, {len(few):,} of them "
        f"with less than {below:,} rules."
    )
    if found.undecided:
        header = list(found.undecided[0])
        yield ""
        yield table.render(header, [[f"{one[k]:,}" for k in header] for one in found.undecided])


def histogram(times: list[float]) -> list[tuple[str, int]]:
    """How many files took how long: a label and a number for each step, empty ends left out."""
    names = [_short(bound) for bound in BOUNDS]
    labels = [f"< {names[0]}", *(f"{a} to {b}" for a, b in pairwise(names))]
    labels.append(f"> {names[-1]}")
    counts = [0] * len(labels)
    for spent in times:
        counts[sum(spent >= bound for bound in BOUNDS)] += 1
    used = [number for number, count in enumerate(counts) if count]
    return list(zip(labels, counts, strict=True))[used[0] : used[-1] + 1] if used else []


def _short(milliseconds: float) -> str:
    if milliseconds < 1:
        return f"{milliseconds * 1000:.0f} us"
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.0f} s"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def figures(found: Study) -> dict[str, Any]:
    """The study for a program."""
    return {
        "profile": found.profile,
        "real": found.real,
        "files": found.files,
        "files with rules": found.with_rules,
        "rule sets": found.sets,
        "analysed": found.analysed,
        "rules": found.rules,
        "dead": found.dead,
        "redundant": found.redundant,
        "removed": found.removed,
        "removed, without path pattern": found.empty,
        "files that could be smaller": found.smaller,
        "files that could be half": found.halved,
        "octets": found.octets,
        "octets saved": found.octets_saved,
        "reasons": dict(found.reasons.most_common()),
        "milliseconds": {
            "median": round(statistics.median(found.times), 4) if found.times else None,
            "total": round(sum(found.times), 1),
            "histogram": histogram(found.times),
        },
        "undecided": found.undecided,
    }
