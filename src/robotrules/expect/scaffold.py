"""
A first expectation file for a robots.txt: its current meaning, as expectations with comments.

Each table is evaluated before it is written, and one that fails is left out: the file passes, and
the site owner changes it as needed. Text of the robots.txt is used only if it is printable. The
module does no I/O.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from robotrules.errors import RobotrulesError
from robotrules.expect.evaluate import evaluate
from robotrules.expect.reader import read_expectations
from robotrules.extensions.sitemap import sitemaps
from robotrules.robotstxt import RobotsTxt

# The file has a few examples, not a copy of the rules; finding them must be fast.
MAX_EXAMPLES = 5
MAX_STATES = 2_000
MAX_LENGTH = 200
HEAD = """\
# What robots.txt should say; `robotrules test` checks it after every change.
# These pass today: change them to what you need, and add what matters to you.
# `robotrules test --help` describes the command; the documentation of robotrules has all keys, on
# its page "Expectations".
"""


def render_starter(robots: RobotsTxt, profile: str | None = None) -> str:
    """Return the text of an expectation file that passes for a robots.txt."""
    head = HEAD + (f"profile = {_quote(profile)}\n" if profile else "")
    found = [
        next((table for table in tables if _passes(head + table, robots)), "")
        for tables in _tables(robots)
    ]
    return "\n".join(filter(None, (head, *found)))


def _passes(table: str, robots: RobotsTxt) -> bool:
    try:
        questions = read_expectations(table).questions
    except RobotrulesError:
        return False  # a name or a pattern that an expectation cannot have
    return all(evaluate(question, robots, max_states=MAX_STATES).passed for question in questions)


def _tables(robots: RobotsTxt) -> Iterator[tuple[str, ...]]:
    """Yield alternatives for each table; the first that passes is used."""
    word = "allowed" if robots.check("/", "*") else "disallowed"
    yield (_table("All crawlers that no group names.", f'{word} = ["/"]'),)
    patterns = [rule.pattern for rule in robots.rules_for("*").rules if not rule.allow]
    for pattern in _select_examples(patterns):
        yield (
            _table("Every URL that this matches.", f"all-disallowed = [{_quote(pattern)}]"),
            _table("This URL; not all that begin like it.", f"disallowed = [{_quote(pattern)}]"),
        )
    for names in _crawlers_by_group(robots):
        # Names of one group may have others, too: then only the first one is used.
        yield tuple(_group_table(some, robots) for some in (names, names[:1]))
    listed = [_quote(sitemap.url) for sitemap in sitemaps(robots) if sitemap.url.isprintable()]
    if len(listed) <= MAX_EXAMPLES:
        comment = "The sitemaps; [] for none."
        yield (_table(comment, f"sitemaps = [{', '.join(listed)}]"),)


def _crawlers_by_group(robots: RobotsTxt) -> list[list[str]]:
    """Return the names of a few groups, each name once."""
    found: list[list[str]] = []
    used: set[str] = set()
    for group in robots.groups:
        names = [start.value.decode("utf-8", "replace") for start in group.starts]
        new = [name for name in names if name.lower() not in used and _is_name(name, robots)]
        if examples := _select_examples(new):
            found.append(examples)
            used |= {name.lower() for name in examples}
        if len(found) == MAX_EXAMPLES:
            break
    return found


def _group_table(names: Sequence[str], robots: RobotsTxt) -> str:
    """Return a table of crawlers that obey their own group, with its rules."""
    comment = "It obeys its own group, so it does not obey the one for '*'."
    if len(names) > 1:
        comment = "They obey their own group, so they do not obey the one for '*'."
    lines = [f"crawlers = [{', '.join(map(_quote, names))}]", 'obeys = "own"']
    patterns = [rule.pattern for rule in robots.rules_for(names[0]).rules if not rule.allow]
    samples: dict[str, list[str]] = {"all-disallowed": [], "disallowed": [], "allowed": []}
    for pattern in _select_examples(patterns):
        for key in ("all-disallowed", "disallowed"):
            line = f"{key} = [{_quote(pattern)}]"
            if _passes("\n".join(("[[expect]]", lines[0], line)), robots):
                samples[key].append(pattern)
                break
    if "/" not in samples["all-disallowed"]:
        word = "allowed" if robots.check("/", names[0]) else "disallowed"
        if "/" not in samples[word]:
            samples[word].insert(0, "/")
    lines += [
        f"{key} = [{', '.join(map(_quote, samples[key]))}]"
        for key in ("allowed", "all-disallowed", "disallowed")
        if samples[key]
    ]
    return _table(comment, *lines)


def _is_name(name: str, robots: RobotsTxt) -> bool:
    """Return whether a name can be used for a query; some profiles are strict."""
    try:
        robots.check("/", name)
    except RobotrulesError:
        return False
    return name != "*"


def _table(comment: str, *lines: str) -> str:
    return "\n".join((f"# {comment}", "[[expect]]", *lines, ""))


def _select_examples(texts: Sequence[str]) -> list[str]:
    """Return a few texts that are printable and short, each once."""
    plain = (text for text in dict.fromkeys(texts) if text and text.isprintable())
    return [text for text in plain if len(text) <= MAX_LENGTH][:MAX_EXAMPLES]


def _quote(text: str) -> str:
    # Printable text is the same in JSON and in TOML.
    return json.dumps(text, ensure_ascii=False)
