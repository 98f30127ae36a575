"""`indexifembedded`, the tag rule that permits something, lifts no noindex of another part."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.errors import WriteError
from robotrules.serving import SitePolicy
from robotrules.serving.response_fields import Field
from robotrules.tags import usage_rules
from robotrules.write.policy import read_policy

EMBEDS = "indexifembedded"
TABLE = "[[tags]]\npaths = {}\nrules = {}\ncrawlers = {}\n"
WIDGETS = TABLE.format(["/widgets/"], ["noindex", EMBEDS], ["*"])


def rules_of(lines: list[Field], token: str, field: str) -> dict[str, Any]:
    """Return the rules of one field for a crawler."""
    own = [(name, value) for name, value in lines if name.lower() == field.lower()]
    return dict(usage_rules(headers=own, product_token=token).rules)


def test_it_is_sent_beside_its_noindex() -> None:
    """In both fields."""
    lines = SitePolicy(WIDGETS).response_fields("/widgets/x").add_to([])
    assert lines == [
        ("Robots-Tag", f"*;noindex;{EMBEDS}"),
        ("X-Robots-Tag", f"noindex, {EMBEDS}"),
    ]


@pytest.mark.parametrize("rules", [[EMBEDS], ["nosnippet", EMBEDS]])
def test_alone_it_has_no_effect(rules: list[str]) -> None:
    """So it is a mistake."""
    with pytest.raises(WriteError, match='has an effect only beside "noindex"'):
        read_policy(TABLE.format(["/"], rules, ["*"]))


@pytest.mark.parametrize(
    ("crawlers", "others"),
    [(["*"], ["*"]), (["*"], ["ExampleBot"]), (["ExampleBot"], ["*"]), (["ABot"], ["abot"])],
)
def test_another_table_without_it(crawlers: list[str], others: list[str]) -> None:
    """Whoever has a noindex from a table without it has no permission."""
    policy = TABLE.format(["/"], ["noindex", EMBEDS], crawlers)
    strict = TABLE.format(["/strict/"], ["noindex"], others)
    for text in (policy + strict, strict + policy):
        site = SitePolicy(text)
        assert EMBEDS in str(site.response_fields("/x").add_to([]))
        assert EMBEDS not in str(site.response_fields("/strict/x").add_to([]))
        assert "noindex" in str(site.response_fields("/strict/x").add_to([]))


def test_staging_hosts_have_none() -> None:
    """Their noindex is without it."""
    site = SitePolicy(WIDGETS, staging=["staging.example"])
    found = site.response_fields("/widgets/x", "staging.example").add_to([])
    assert found[0] == ("Robots-Tag", "*;noindex;nofollow")


OWN = [
    ("X-Robots-Tag", "noindex"),
    ("x-robots-tag", "nofollow, NONE"),
    ("X-Robots-Tag", "OtherBot: noindex"),
    ("ROBOTS-TAG", "*;noindex"),
]
HARMLESS = [
    ("X-Robots-Tag", "noarchive"),
    ("X-Robots-Tag", "max-image-preview: none"),
    ("Robots-Tag", "*;max-image-preview=none"),
    ("Link", "noindex"),
]


@pytest.mark.parametrize("own", OWN, ids=lambda field: field[1])
def test_a_noindex_of_the_application(own: Field) -> None:
    """The permission is left out, and everything else stays."""
    fields = SitePolicy(WIDGETS).response_fields("/widgets/x")
    assert EMBEDS not in str(fields.add_to([own]))
    assert EMBEDS not in str(fields.joined([own]))
    raw = [(own[0].lower().encode(), own[1].encode())]
    assert b"indexifembedded" not in b"".join(value for _, value in fields.add_to_raw(raw))
    assert fields.add_to([own])[:2] == [("Robots-Tag", "*;noindex"), ("X-Robots-Tag", "noindex")]


@pytest.mark.parametrize("own", HARMLESS, ids=lambda field: field[1])
def test_other_fields_of_the_application(own: Field) -> None:
    """They do not ask for noindex, so the permission stays."""
    fields = SitePolicy(WIDGETS).response_fields("/widgets/x")
    for lines in (fields.add_to([own]), fields.joined([own])):
        assert EMBEDS in rules_of(lines, "AnyBot", "X-Robots-Tag")


TOKENS = ["*", "ExampleBot", "OtherBot"]
RULES = st.sampled_from([["noindex"], ["noindex", EMBEDS], ["nosnippet"]])
TABLES = st.lists(st.tuples(RULES, st.sampled_from(TOKENS)), min_size=1, max_size=4)


# Frameworks with one line for each field have one line of the application.
SENT = st.lists(st.sampled_from(OWN + HARMLESS), max_size=2, unique_by=lambda own: own[0].lower())


@given(TABLES, SENT)
def test_the_three_ways_to_add_fields_agree(
    tables: list[tuple[list[str], str]], own: list[Field]
) -> None:
    """Lists, bytes and one line for each field: same rules, and no noindex is lifted by another."""
    text = "".join(TABLE.format(["/"], rules, [token]) for rules, token in tables)
    fields = SitePolicy(text).response_fields("/x")
    added = fields.add_to(own)
    raw = [(name.lower().encode(), value.encode()) for name, value in own]
    decoded = [(name.decode(), value.decode()) for name, value in fields.add_to_raw(raw)]
    joined = fields.joined(own)
    for token in ("ExampleBot", "OtherBot", "ThirdBot"):
        concern = [rules for rules, scope in tables if scope in ("*", token)]
        strict = ["noindex"] in concern or any(field in OWN for field in own)
        for field in ("Robots-Tag", "X-Robots-Tag"):
            expected = rules_of(added, token, field)
            assert rules_of(decoded, token, field) == expected
            assert rules_of(joined, token, field) == expected
            assert not (strict and EMBEDS in expected)
            for rules in concern:
                assert "noindex" in expected or "noindex" not in rules
