"""
The study of the real corpus: dead rules, redundant rules, and rules that can be removed.

It analyses every rule set of every file: the groups that each named crawler obeys, and those of all
other crawlers. A list that a file repeats for many crawlers is analysed once and counted each time.
Only figures are kept: no text of a file goes into a report.

Does not know: whether a rule without effect was intended to have one.
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
from corpora.real.stand_in import generate_stand_in

Progress = Callable[[str], None]
# Bounds of the histogram, in milliseconds.
BOUNDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
BAR_WIDTH = 46


@dataclass
class Study:
    """The figures of the corpus under one profile."""

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
    """The number of removed rules without a path pattern."""
    smaller: int = 0
    """The number of files in which a rule with a path pattern could be removed."""
    halved: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    reason_files: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    """Milliseconds for each file that has rules."""
    largest: list[tuple[float, int, int]] = field(default_factory=list)
    """The slowest files: milliseconds, rule sets analysed, rules of the largest."""
    undecided: list[dict[str, int]] = field(default_factory=list)
    octets: int = 0
    octets_saved: int = 0


def run_study(profile: str, every: int, progress: Progress) -> Study:
    """Analyse every *every*th file of the corpus."""
    study = Study(profile, real=(real.corpus_folder() / "corpus_a.tar.xz").exists())
    for number, body in enumerate(read_bodies()):
        if number % every == 0:
            if not number % (10 * every):
                progress(f"profile {profile}: file {number:,}")
            _analyse_file(study, body)
    return study


def read_bodies() -> Iterator[bytes]:
    """Yield every file of the corpus, or of the stand-in if there is no corpus."""
    archive = real.corpus_folder() / "corpus_a.tar.xz"
    if not archive.exists():
        yield from (case.body for case in generate_stand_in(2_000))
        return
    with tarfile.open(archive, "r|xz") as members:
        for member in members:
            stream = members.extractfile(member)
            if stream is not None and member.name != "INDEX.tsv":
                yield stream.read()


def _analyse_file(study: Study, body: bytes) -> None:
    import robotrules
    from robotrules import analysis

    study.files += 1
    robots = robotrules.parse(body, study.profile)
    sets: dict[tuple[int, ...], Any] = {}
    for crawler in analysis.crawlers(robots):
        groups = robots.select_groups(crawler.names, crawler.purposes).indices
        if groups not in sets:
            sets[groups] = robots.rules_for(crawler.names, crawler.purposes)
    sets = {groups: rules for groups, rules in sets.items() if len(rules)}
    if not sets:
        return
    study.with_rules += 1
    answers: dict[tuple[tuple[str, bool], ...], Counter[str]] = {}
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    spent, largest = 0.0, 0
    for rules in sets.values():
        written = tuple((rule.pattern, rule.allow) for rule in rules.rules)
        if written not in answers:
            start = time.process_time()
            answers[written] = _analyse_rule_set(study, rules)
            spent += time.process_time() - start
            largest = max(largest, len(written))
        total.update({"rules": len(written), "sets": 1})
        total.update(answers[written])
    for name, count in total.items():
        if name.startswith("because "):
            reasons[name.removeprefix("because ")] += count
    study.reasons.update(reasons)
    study.reason_files.update(dict.fromkeys(reasons, 1))
    study.analysed += len(answers)
    for name in ("sets", "rules", "dead", "redundant", "removed", "empty"):
        setattr(study, name, getattr(study, name) + total[name])
    study.octets += total["octets"]
    study.octets_saved += total["octets saved"]
    study.smaller += total["removed"] > total["empty"]
    study.halved += total["removed"] * 2 >= total["rules"] and total["removed"] > total["empty"]
    study.times.append(spent * 1000)
    slowest = [*study.largest, (spent * 1000, len(answers), largest)]
    study.largest = sorted(slowest, reverse=True)[:8]


def _analyse_rule_set(study: Study, rules: Any) -> Counter[str]:
    """Run all analyses on one rule set, and count the results."""
    from robotrules import analysis

    dead, redundant = analysis.dead_rules(rules), analysis.redundant_rules(rules)
    smaller = analysis.minimize(rules)
    undecided = {rule.line for answer in (dead, redundant, smaller) for rule in answer.undecided}
    if undecided:
        patterns = [rule.pattern for rule in rules.rules]
        study.undecided.append(
            {
                "rules": len(patterns),
                "with wildcards": sum("*" in pattern for pattern in patterns),
                "most wildcards": max(pattern.count("*") for pattern in patterns),
                "undecided": len(undecided),
                "states": max(dead.states, redundant.states, smaller.states),
            }
        )
    counts = Counter(
        {
            "dead": len(dead.rules),
            "redundant": len(redundant.rules),
            "removed": len(smaller.removed),
            "empty": sum(not removed.rule.pattern for removed in smaller.removed),
            "octets": sum(len(str(rule)) + 1 for rule in rules.rules),
            "octets saved": sum(len(str(removed.rule)) + 1 for removed in smaller.removed),
        }
    )
    counts.update(f"because {describe_reason(removed)}" for removed in smaller.removed)
    return counts


def describe_reason(redundant: Any) -> str:
    """Return in a few words why the rule of a `Redundant` can be removed."""
    rule, instead = redundant.rule, redundant.instead
    same_kind = [other for other in instead if other.allow == rule.allow]
    if not rule.pattern:
        return "has no path pattern"
    if any(other.form == rule.form for other in same_kind):
        return "is written twice"
    if any(other.form.rstrip("*") == rule.form.rstrip("*") for other in same_kind):
        return "is written twice, once with a star at the end"
    if redundant.dead and not instead:
        if rule.pattern[:1] not in "/*":
            return "starts with neither / nor *"
        return "matches no URL"
    if redundant.dead:
        if any(other.form == rule.form for other in instead):
            return "an Allow has the same pattern"
        return "more specific rules decide all its URLs"
    if rule.allow and not instead:
        return "allows URLs that no rule disallows"
    return f"a broader {'Allow' if rule.allow else 'Disallow'} covers it"


# --- Output ---------------------------------------------------------------------------------------


def render_study(study: Study, below: int) -> Iterator[str]:
    """Yield the study as text."""
    corpus = "the real corpus" if study.real else "STAND-IN: generated files"
    yield (
        f"Profile {study.profile}, {corpus}: {study.files:,} files, {study.with_rules:,} "
        f"with rules; {study.sets:,} rule sets, {study.analysed:,} of them different within "
        f"their file; {study.rules:,} rules."
    )
    yield ""
    rows: list[tuple[str, int]] = [
        ("dead: they decide no URL", study.dead),
        ("redundant: each alone can be removed", study.redundant),
        ("can be removed together (minimise)", study.removed),
        ("of these with a path pattern", study.removed - study.empty),
    ]
    share = [[name, f"{count:,}", _percent(count, study.rules)] for name, count in rows]
    yield table.render(["rules", "number", "of all"], share)
    yield ""
    yield (
        f"{study.smaller:,} files, {_percent(study.smaller, study.with_rules)} of these, "
        f"could remove a rule with a path pattern, {study.halved:,} of them at least half of "
        f"their rules. It would save {_percent(study.octets_saved, study.octets)} of the octets in "
        "rules."
    )
    yield ""
    yield "Why a rule can be removed:"
    yield ""
    reasons = [
        [reason, f"{count:,}", _percent(count, study.removed), f"{study.reason_files[reason]:,}"]
        for reason, count in sorted(study.reasons.items(), key=lambda item: (-item[1], item[0]))
    ]
    yield table.render(["the rule", "rules", "of those", "files"], reasons)
    yield ""
    yield from _render_times(study)
    yield ""
    yield from _render_undecided(study, below)


def _render_times(study: Study) -> Iterator[str]:
    yield (
        "Processor time for one file: dead rules, redundant rules, minimise, of all its rule sets. "
        f"Median {table.format_milliseconds(statistics.median(study.times))}, mean "
        f"{table.format_milliseconds(statistics.fmean(study.times))}, all files "
        f"{sum(study.times) / 1000:,.0f} s."
    )
    yield ""
    yield "```text"
    counts = make_histogram(study.times)
    highest = max(count for _, count in counts)
    for label, count in counts:
        bar = "#" * math.ceil(BAR_WIDTH * count / highest)
        yield f"{label:>16}  {bar:<{BAR_WIDTH}}  {count:,}".rstrip()
    yield "```"
    yield ""
    slow = [
        [table.format_milliseconds(spent), f"{sets:,}", f"{rules:,}"]
        for spent, sets, rules in study.largest
    ]
    yield table.render(["the slowest files", "different rule sets", "rules of the largest"], slow)


def _render_undecided(study: Study, below: int) -> Iterator[str]:
    small = [rule_set for rule_set in study.undecided if rule_set["rules"] < below]
    yield (
        f"Not decided within the state limit: {len(study.undecided):,} rule sets, "
        f"{len(small):,} of them with less than {below:,} rules."
    )
    if study.undecided:
        header = list(study.undecided[0])
        yield ""
        rows = [[f"{rule_set[key]:,}" for key in header] for rule_set in study.undecided]
        yield table.render(header, rows)


def make_histogram(times: list[float]) -> list[tuple[str, int]]:
    """Return a label and a number of files for each range, without empty ranges at the ends."""
    names = [_format_bound(bound) for bound in BOUNDS]
    labels = [f"< {names[0]}", *(f"{a} to {b}" for a, b in pairwise(names))]
    labels.append(f"> {names[-1]}")
    counts = [0] * len(labels)
    for spent in times:
        counts[sum(spent >= bound for bound in BOUNDS)] += 1
    used = [number for number, count in enumerate(counts) if count]
    return list(zip(labels, counts, strict=True))[used[0] : used[-1] + 1] if used else []


def _format_bound(milliseconds: float) -> str:
    if milliseconds < 1:
        return f"{milliseconds * 1000:.0f} us"
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.0f} s"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def study_figures(study: Study) -> dict[str, Any]:
    """Return the study for a program."""
    return {
        "profile": study.profile,
        "real": study.real,
        "files": study.files,
        "files with rules": study.with_rules,
        "rule sets": study.sets,
        "analysed": study.analysed,
        "rules": study.rules,
        "dead": study.dead,
        "redundant": study.redundant,
        "removed": study.removed,
        "removed, without path pattern": study.empty,
        "files that could be smaller": study.smaller,
        "files that could be half": study.halved,
        "octets": study.octets,
        "octets saved": study.octets_saved,
        "reasons": dict(study.reasons.most_common()),
        "milliseconds": {
            "median": round(statistics.median(study.times), 4) if study.times else None,
            "total": round(sum(study.times), 1),
            "histogram": make_histogram(study.times),
        },
        "undecided": study.undecided,
    }
