"""
Group selection: which groups a crawler obeys (RFC 9309 §2.2.1).

Groups are selected by product token; if no group names it, by purpose; otherwise the star groups
apply. This module decides which names are compared and in which order. The engine compares a name
with the user-agent lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.errors import ProductTokenError
from robotrules.profile import Profile
from robotrules.robotstxt.tokens import (
    CrawlerNames,
    Tokens,
    are_names,
    is_compared_whole,
    leading_name,
    make_type_error,
    vet_name,
)
from robotrules.robotstxt.values import Group
from robotrules.robotstxt.verdict import GroupMatch

if TYPE_CHECKING:
    from robotrules.robotstxt import RobotsTxt


class GroupChoice(NamedTuple):
    """The groups of a file that a crawler obeys, and how they were selected (§2.2.1)."""

    robots: RobotsTxt
    """The file that has the groups."""
    indices: tuple[int, ...]
    """The indices of the groups in `RobotsTxt.groups`, in the order of the file."""
    matched_by: GroupMatch
    """How the groups were selected."""
    matched_tokens: tuple[str, ...] = ()
    """The crawler's product tokens that the groups name."""
    matched_purposes: tuple[str, ...] = ()
    """The crawler's purposes that the groups name."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in the order of the file; if there are none, everything is allowed."""
        groups = self.robots.groups
        return tuple(groups[index] for index in self.indices)


def choose_groups(
    robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str] = ()
) -> GroupChoice:
    """
    Return what `RobotsTxt.select_groups()` returns, for purposes that are already validated.

    It does not issue a PurposeWarning where the profile does not read purposes.
    """
    indices, match, matched = select_indices(
        robots._document, robots._profile, product_token, purposes
    )
    if match is GroupMatch.PURPOSE:
        return GroupChoice(robots, tuple(indices), match, matched_purposes=matched)
    return GroupChoice(robots, tuple(indices), match, matched)


def select_indices(
    document: Any, profile: Profile, product_token: Tokens, purposes: Sequence[str] = ()
) -> tuple[list[int], GroupMatch, tuple[str, ...]]:
    """Return the indices of the groups, how they match, and the tokens or purposes they name."""
    if isinstance(product_token, str):
        name = vet_name(product_token, profile)
        star, is_named = find_groups(document, profile, name)
        if is_named:
            return star, GroupMatch.TOKEN, (name,)
    elif isinstance(product_token, CrawlerNames):
        for token in product_token:
            # If the profile compares names by the grammar, MJ12bot is compared as MJ and 360Spider
            # is not compared. Parsers read the first word of a name with spaces (AMB-21).
            whole = is_compared_whole(token, profile)
            name = token if whole else leading_name(token)
            if name and (groups := _find_named_groups(document, name)):
                return groups, GroupMatch.TOKEN, (token,)
        star = [] if product_token.ignores_star else find_groups(document, profile, "*")[0]
    else:
        groups, named = _find_groups_of_several(
            document, profile, tuple(require_names(product_token))
        )
        if groups:
            return groups, GroupMatch.TOKEN, named
        star, _ = find_groups(document, profile, "*")
    if purposes:
        by_purpose = {
            purpose: document.select(b"user-agent-purpose", purpose)
            for purpose in purposes
            if purpose != "*"  # does not name a purpose (AMB-97)
        }
        matched = tuple(purpose for purpose, groups in by_purpose.items() if groups)
        if matched:
            merged = sorted({index for groups in by_purpose.values() for index in groups})
            return merged, GroupMatch.PURPOSE, matched
    return star, GroupMatch.STAR if star else GroupMatch.NONE, ()


def find_groups(document: Any, profile: Profile, token: str) -> tuple[list[int], bool]:
    """Return the groups that name *token*, and True; otherwise the star groups, and False."""
    if not (token.isalpha() and token.isascii()):  # most tokens are letters only: always valid
        token = vet_name(token, profile)
    groups: tuple[list[int], bool] = document.choose(token)
    if profile.first_star_group_only and not groups[1]:
        return groups[0][:1], False
    return groups


def _find_groups_of_several(
    document: Any, profile: Profile, tokens: tuple[str, ...]
) -> tuple[list[int], tuple[str, ...]]:
    """Return the groups that name one of *tokens*, and the tokens that they name."""
    if not tokens:
        raise ProductTokenError("no product token was given: pass the crawler's name")
    tokens = tuple(vet_name(token, profile) for token in tokens)
    indices: set[int] = set()
    named: tuple[str, ...] = ()
    for token in tokens:
        groups = _find_named_groups(document, token)
        if groups and (profile.merge_tokens or not named):
            indices.update(groups)
            named += (token,)
    return sorted(indices), named


def _find_named_groups(document: Any, token: str) -> list[int]:
    """Return the indices of the groups that name *token*; `*` is not a name."""
    return document.select(b"user-agent", token) if token != "*" else []


# --- Arguments ------------------------------------------------------------------------------------


def require_names(product_token: Tokens) -> Tokens:
    """Return *product_token* if it is a str or a sequence; otherwise raise a TypeError."""
    if not are_names(product_token):
        raise make_type_error(product_token)
    return product_token


def vet_purposes(purposes: Sequence[str]) -> tuple[str, ...]:
    """Return the purposes without repetitions; raise an error if one is empty or not a str."""
    is_list = not isinstance(purposes, (str, bytes)) and isinstance(purposes, Iterable)
    purposes = tuple(purposes) if is_list else purposes
    if not is_list or not all(isinstance(purpose, str) for purpose in purposes):
        form = "purposes are a list of str such as ['EXAMPLE-PURPOSE-1']"
        raise TypeError(f"{form}, not {purposes!r}")
    # Only whitespace that the parser trims counts as empty (RFC 9309 §2.2): U+00A0 can be a purpose
    # in a file, and analysis passes every purpose of a file.
    if not all(purpose.strip(" \t") for purpose in purposes):
        raise ProductTokenError("a purpose is empty: leave it out, or pass its registered token")
    return tuple(dict.fromkeys(purposes))
