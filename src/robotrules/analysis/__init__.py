"""
Exact answers about rules: statements about all URLs, without sampling.

A path pattern with `*` and `$` is a regular language, and "the longest match wins" is an order of
precedence over these languages. So "is there a URL on which these two files differ?" is decidable,
and a shortest such URL can be computed:

    from robotrules import analysis, parse
    old, new = (parse(body).rules_for("ExampleBot") for body in (old_body, new_body))
    analysis.equivalent(old, new)      # proved equal, or a shortest URL on which they differ
    analysis.difference(old, new)      # every changed region, with the two deciding lines
    analysis.dead_rules(old)           # rules that decide no URL, and the rules that cover them
    analysis.minimize(old)             # fewer rules, proved equivalent

A query that would need too many states is answered with "not decided", never with a guess.
The package uses no network, no clock and no files.
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
from robotrules.analysis.simplification import Simplification, SimplificationStep
from robotrules.analysis.simplify import simplify
from robotrules.analysis.solver import MAX_STATES
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
