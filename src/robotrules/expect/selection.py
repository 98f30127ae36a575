"""
Selection of expectations by words: `Googlebot and not (/cart or noindex)`.

The language of pytest's `-k`: words with `and`, `or`, `not` and parentheses. A word is a part of
the title of an expectation, its crawlers, purposes, URL, page, key or reason (`why`), in any case;
words with spaces, parentheses or operators in them are quoted. Nothing is evaluated as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from robotrules.errors import ExpectationError
from robotrules.expect.values import Question

__all__ = ["Selector", "parse_selection", "searched_text"]

# Typed by hand; the limit keeps the recursion of the parser small.
MAX_LENGTH = 2_000
MAX_DEPTH = 50
_TOKEN = re.compile(r"""\s*(?:([()])|"([^"]*)"|'([^']*)'|([^\s()"']+))""")
_OPERATORS = ("and", "or", "not")
_Matches = Callable[[str], bool]


class Selector:
    """A parsed expression; call it with a question."""

    __slots__ = ("_matches", "text")

    def __init__(self, text: str, matches: _Matches) -> None:
        self.text = text
        self._matches = matches

    def __call__(self, question: Question) -> bool:
        """Return whether a question is selected."""
        return self._matches(searched_text(question))


class _Token(NamedTuple):
    text: str
    column: int
    is_word: bool

    @property
    def operator(self) -> str:
        """The operator or parenthesis; empty for a word."""
        return "" if self.is_word else self.text.lower()


def searched_text(question: Question) -> str:
    """Return the text of a question in which words are searched, in lower case."""
    about = question.about
    parts = (
        *(question.title, question.key, question.url or "", about.why, str(about.page or "")),
        *question.crawler,
        *about.purposes,
        about.application or "",
    )
    return "\n".join(parts).casefold()


def parse_selection(text: str) -> Selector:
    """Return the selector of an expression; raises `ExpectationError` for one that is not valid."""
    if len(text) > MAX_LENGTH:
        raise ExpectationError(f"the expression is longer than {MAX_LENGTH:,} characters")
    parser = _Parser(list(_tokens(text)), len(text))
    return Selector(text, parser.whole())


def _tokens(text: str) -> list[_Token]:
    found = []
    end = len(text.rstrip())
    position = 0
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpectationError(f"column {_column(text, position)}: the quote is not closed")
        bracket, double, single, bare = match.groups()
        word = next((one for one in (double, single) if one is not None), bare)
        if word == "":
            raise ExpectationError(f"column {_column(text, position)}: the word is empty")
        is_word = bracket is None and not (bare and bare.lower() in _OPERATORS)
        last = match.lastindex or 0
        start = match.start(last) - (last in (2, 3))
        found.append(_Token(bracket or word, start + 1, is_word))
        position = match.end()
    return found


def _column(text: str, position: int) -> int:
    return position + len(text[position:]) - len(text[position:].lstrip()) + 1


class _Parser:
    """Recursive descent: `or` binds weakest, then `and`, then `not`."""

    def __init__(self, tokens: list[_Token], length: int) -> None:
        self._tokens = tokens
        self._end = length + 1
        self._at = self._depth = 0

    def whole(self) -> _Matches:
        """Return the test of the whole expression."""
        found = self._or()
        if self._at < len(self._tokens):
            self._refuse("'and' or 'or'")
        return found

    def _or(self) -> _Matches:
        parts = [self._and()]
        while self._takes("or"):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else lambda text: any(one(text) for one in parts)

    def _and(self) -> _Matches:
        parts = [self._not()]
        while self._takes("and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else lambda text: all(one(text) for one in parts)

    def _not(self) -> _Matches:
        negated = False
        while self._takes("not"):
            negated = not negated
        found = self._word()
        return (lambda text: not found(text)) if negated else found

    def _word(self) -> _Matches:
        if self._takes("("):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise ExpectationError(f"there are more than {MAX_DEPTH} parentheses in each other")
            found = self._or()
            if not self._takes(")"):
                self._refuse("')'")
            self._depth -= 1
            return found
        if self._at >= len(self._tokens) or not self._tokens[self._at].is_word:
            self._refuse("a word, 'not' or '('")
        word = self._tokens[self._at].text.casefold()
        self._at += 1
        return lambda text: word in text

    def _takes(self, operator: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at].operator == operator:
            self._at += 1
            return True
        return False

    def _refuse(self, expected: str) -> None:
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            raise ExpectationError(
                f"column {token.column}: expected {expected} before {token.text!r}"
            )
        raise ExpectationError(f"column {self._end}: expected {expected} at the end")
