"""
Exact answers about rules: what a rule set says about all URLs, and not about samples.

Path patterns with `*` and `$` are regular languages, and the longest match is an order over them.
So "does any URL tell these two files apart?" has an answer, with a shortest URL to show it:

    from robotrules import analysis, parse
    old, new = (parse(body).rules_for("ExampleBot") for body in (old_body, new_body))
    analysis.equivalent(old, new)      # proved the same, or a shortest URL on which they differ
    analysis.difference(old, new)      # every changed region, with both deciding lines
    analysis.dead_rules(old)           # rules that decide no URL, and those that cover them
    analysis.minimise(old)             # fewer rules, proved the same

A question that would need too many states is answered with "not decided", never with a guess.
Nothing here touches a network, a clock or a file.
"""

from __future__ import annotations

from robotrules.analysis.compare import difference, equivalent, exceptions
from robotrules.analysis.crawlers import Crawler, crawlers
from robotrules.analysis.describe import Description, describe
from robotrules.analysis.files import CrawlerChange, FileDifference, ObeyedGroups, compare
from robotrules.analysis.record_diff import RecordDifference, RecordText
from robotrules.analysis.rules import (
    dead_rules,
    includes,
    is_empty,
    minimize,
    overlaps,
    redundant_rules,
    witness,
)
from robotrules.analysis.simplify import simplify
from robotrules.analysis.solver import MAX_STATES
from robotrules.analysis.steps import Simplification, SimplificationStep
from robotrules.analysis.values import (
    DeadRuleFinding,
    Difference,
    Equivalence,
    MinimizedRules,
    RedundantRuleFinding,
    Region,
    RuleFindings,
    UnchangedRegion,
    Undecided,
    Witness,
)

__all__ = [
    "MAX_STATES",
    "Crawler",
    "CrawlerChange",
    "DeadRuleFinding",
    "Description",
    "Difference",
    "Equivalence",
    "FileDifference",
    "MinimizedRules",
    "ObeyedGroups",
    "RecordDifference",
    "RecordText",
    "RedundantRuleFinding",
    "Region",
    "RuleFindings",
    "Simplification",
    "SimplificationStep",
    "UnchangedRegion",
    "Undecided",
    "Witness",
    "compare",
    "crawlers",
    "dead_rules",
    "describe",
    "difference",
    "equivalent",
    "exceptions",
    "includes",
    "is_empty",
    "minimize",
    "overlaps",
    "redundant_rules",
    "simplify",
    "witness",
]
