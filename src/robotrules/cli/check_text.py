"""
Verdicts as lines: columns for a person, tabs or JSON for a program.

Verdicts are few and URLs are many, so what follows from a verdict is made once. A verdict that was
fetched for comes with what the client holds of the origin, and then the line says that too; what
knows about fetching is imported only then. It does not decide anything, and does not read URLs.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from json.encoder import encode_basestring_ascii as json_string
from typing import TYPE_CHECKING

from robotrules import Verdict
from robotrules.cli.streams import Output
from robotrules.cli.text import cells, shortened
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import Entry
    from robotrules.cli.options import GivenCrawler
    from robotrules.client.origin_state import OriginState

# What one write holds, more or less. A path pattern can be as long as a file, and many URLs can
# have it in their line.
WRITE = 1024 * 1024
# On a terminal a rule longer than this is cut; a pipe gets all of it.
LONGEST_RULE = 200
# How many are kept of what follows from a verdict that was fetched for.
MOST_ENDS = 4096
# Octets that show as they are.
PLAIN = bytes(range(0x20, 0x7F))
WIDEST_URL = 60

OriginStates = Sequence["OriginState | None"]


class Lines(ABC):
    """Writes a line for each URL. Verdicts are few, so what follows from one is made once."""

    def __init__(self, output: Output) -> None:
        self.disallowed = 0
        self._output = output
        # By identity: rule sets share verdicts, and comparing two means reading both rules. The
        # verdicts are kept, so that an identity stays theirs.
        self._verdicts: dict[Hashable, Verdict] = {}
        self._ends: dict[Hashable, tuple[str, str]] = {}
        # As with verdicts. A file may be large, so what is held of an origin is not kept whole.
        self._entries: list[Entry] = []

    @property
    def on_terminal(self) -> bool:
        """Whether a person sees the lines as they come."""
        return self._output.terminal

    @abstractmethod
    def ends(self, verdict: Verdict, held: OriginState | None) -> tuple[str, str]:
        """Return what stands before and after the URL in its line."""

    @abstractmethod
    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as they stand in their lines."""

    def add(self, urls: Sequence[bytes], verdicts: Sequence[Verdict]) -> None:
        """Write the lines of a chunk, and hand them over."""
        self._add(urls, verdicts, None, [*map(id, verdicts)])

    def add_fetched(
        self, urls: Sequence[bytes], verdicts: Sequence[Verdict], states: OriginStates
    ) -> None:
        """Write the lines of a chunk whose robots.txt files were fetched."""
        if len(self._ends) > MOST_ENDS:
            # Origins come and go, and what is gone leaves its identity to others.
            self._verdicts.clear()
            self._ends.clear()
            self._entries.clear()
        keys = [
            (id(one), held and (id(held.entry), held.source))
            for one, held in zip(verdicts, states, strict=True)
        ]
        self._add(urls, verdicts, states, keys)

    def _add(
        self,
        urls: Sequence[bytes],
        verdicts: Sequence[Verdict],
        states: OriginStates | None,
        keys: Sequence[Hashable],
    ) -> None:
        counts = Counter(keys)
        if counts.keys() - self._verdicts.keys():
            self._meet(keys, verdicts, states)
        self.disallowed += sum(counts[key] for key in counts if not self._verdicts[key])
        ends = self._ends
        longest = max((len(ends[key][1]) for key in counts), default=1)
        step = max(WRITE // longest, 1)
        for start in range(0, len(urls), step):
            some = slice(start, start + step)
            found = map(ends.__getitem__, keys[some])
            pairs = zip(self.texts(urls[some]), found, strict=True)
            self._output.write("".join([f"{head}{url}{tail}" for url, (head, tail) in pairs]))
        self._output.flush()

    def _meet(
        self, keys: Sequence[Hashable], verdicts: Sequence[Verdict], states: OriginStates | None
    ) -> None:
        """Make what follows from verdicts that were not seen before."""
        for at, (key, verdict) in enumerate(zip(keys, verdicts, strict=True)):
            if key not in self._verdicts:
                held = states[at] if states is not None else None
                self._verdicts[key], self._ends[key] = verdict, self.ends(verdict, held)
                if held is not None:
                    self._entries.append(held.entry)


class TextLines(Lines):
    """Columns for a person, or with tabs between them for a program."""

    def __init__(self, output: Output, known: Sequence[bytes]) -> None:
        """*known* URLs are all there will be: with them, columns can be aligned."""
        super().__init__(output)
        widest = max((cells(visible(url)) for url in known), default=0)
        self._width = min(widest, WIDEST_URL) if output.terminal else 0

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs with nothing in them that moves a cursor or adds a column."""
        if self._width:
            return map(self._aligned, map(visible, urls))
        # Together first: one look at a chunk costs a third of one at each URL.
        if not b"".join(urls).translate(None, PLAIN):
            return b"\n".join(urls).decode("ascii").split("\n")
        return map(visible, urls)

    def _aligned(self, url: str) -> str:
        return url + " " * (self._width - cells(url))

    def ends(self, verdict: Verdict, held: OriginState | None) -> tuple[str, str]:
        """Return the verdict, and what decided."""
        word = "allowed" if verdict else "disallowed"
        why = verdict.reason.sentence
        if verdict.rule is not None:
            why = f"line {verdict.rule.line}: {visible(str(verdict.rule))}"
        if held is not None:
            from robotrules.cli.access_text import because_words

            why = because_words(why, verdict, held)
        paint = self._output.paint
        if not self._output.terminal:
            return f"{paint(word, word)}\t", f"\t{why}\n"
        why = paint("faint", shortened(why, LONGEST_RULE))
        return f"{paint(word, word)}{' ' * (12 - len(word))}", f"  {why}\n"


class JSONLines(Lines):
    """One JSON object a line; always ASCII."""

    def __init__(
        self,
        output: Output,
        crawler: GivenCrawler,
        purposes: tuple[str, ...] = (),
        *,
        fetched: bool = False,
    ) -> None:
        super().__init__(output)
        # As an explanation has it.
        self._crawler = crawler
        self._purposes = list(purposes)
        self._fetched = fetched

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as JSON strings."""
        return [json_string(url.decode("utf-8", "backslashreplace")) for url in urls]

    def ends(self, verdict: Verdict, held: OriginState | None) -> tuple[str, str]:
        """Return the object without its URL."""
        rest = {
            "allowed": verdict.allowed,
            "reason": str(verdict.reason),
            "line": verdict.line,
            "pattern": verdict.rule.pattern if verdict.rule else None,
            "profile": verdict.profile,
            "product_token": self._crawler.name,
            "purposes": self._purposes,
            "known": self._crawler.known_dict,
        }
        if self._fetched:
            from robotrules.cli.access_text import access_values

            rest |= access_values(held)
        return '{"url": ', f", {json.dumps(rest)[1:]}\n"
