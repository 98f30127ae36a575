"""fmt and write answer what the commands print, and the proofs of write are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robotrules import parse
from robotrules.analysis import MAX_STATES
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS
from robotrules.service import policy_forms, policy_proofs
from robotrules.service.policy_forms import Form, FormEntry, make_policy
from robotrules.service.policy_proofs import prove_form
from robotrules.write.policy import compose
from tests.cli.shell import robotrules
from tests.service.test_comparing import printed, written_body
from tests.service.verb_calls import call, encoded, every_file, refused, without

POLICY = """\
comment = "Made from a policy"
sitemaps = ["https://example.com/sitemap.xml"]

[everyone]
keep-out = ["/admin/", "/*?s="]
welcome = ["/admin/public"]
crawl-delay = 2
use = { train-ai = false }

[[for]]
crawlers = ["GPTBot", "ExampleBot"]
keep-out = ["/"]

[[for]]
purposes = ["EXAMPLE-PURPOSE-1"]
welcome = ["/admin/"]

[[tags]]
paths = ["/*.pdf$"]
rules = ["noindex", "max-snippet: 50"]
crawlers = ["Googlebot"]
"""
# What the answer has beside the JSON of the command.
MORE = ("body", "toml", "fields", "can_be_served", "notes", "proved", "proofs")
MORE_LISTS = ("proofs_left_out", "ignore_star", "hints")


# --- fmt ------------------------------------------------------------------------------------------


@every_file
def test_fmt_is_that_of_the_command(octets: bytes) -> None:
    """For any bytes and profile; the body is what the command writes to stdout."""
    ran = robotrules("fmt", "-", "--check", "--json", stdin=octets)
    for profile in ("default", "google"):
        answer = call("fmt", robots_base64=encoded(octets), profile=profile)
        assert without(answer, "body", "body_base64") == json.loads(ran.out)
    body = written_body(answer)
    if ran.code == 2:
        assert body == octets
    else:
        written = robotrules("fmt", "-", stdin=octets).out
        assert body == written.encode("utf-8", "surrogateescape")


def test_options_of_fmt() -> None:
    """The limit of states; other values are refused."""
    text = "User-agent: *\nDisalow: /x\n"
    answer = call("fmt", robots=text, max_states=1)
    expected = printed("fmt", "-", "--check", "--max-states=1", stdin=text.encode())
    assert without(answer, "body", "body_base64") == expected
    assert "max_states" in refused("fmt", robots="", max_states=0).detail


# --- write: a policy in TOML ----------------------------------------------------------------------


def command_part(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what the command prints of an answer."""
    return without(answer, *MORE, *MORE_LISTS)


@pytest.mark.parametrize("text", [POLICY, "", "[everyone]\n", "comment = 'x'", "\ufeff" + POLICY])
def test_write_is_that_of_the_command(text: str) -> None:
    """With the text of the robots.txt, and the notes that --check prints."""
    answer = call("write", policy=text)
    ran = robotrules("write", "-", "--json", stdin=text.encode())
    assert command_part(answer) == json.loads(ran.out)
    assert (
        answer["body"] == answer["robotstxt"] == robotrules("write", "-", stdin=text.encode()).out
    )
    assert answer["toml"] == text
    checked = json.loads(robotrules("write", "-", "--check", "--json", stdin=text.encode()).out)
    assert {name: answer[name] for name in ("can_be_served", "notes")} == checked["check"]
    assert answer["proved"] is True


def test_write_compares_with_a_file(tmp_path: Path) -> None:
    """As --compare does; the file has no name here."""
    for existing in ("User-agent: *\nDisallow: /admin/\n", robotrules_text(POLICY)):
        (tmp_path / "robots.txt").write_text(existing, encoding="utf-8")
        path = str(tmp_path / "robots.txt")
        expected = printed("write", "-", "--compare", path, stdin=POLICY.encode())
        expected["compare"]["file"] = None
        assert command_part(call("write", policy=POLICY, compare=existing)) == expected
        octets = encoded(existing.encode())
        assert command_part(call("write", policy=POLICY, compare_base64=octets)) == expected
    assert expected["compare"]["same"] is True


def robotrules_text(policy: str) -> str:
    """Return the robots.txt that the command makes from a policy."""
    return robotrules("write", "-", stdin=policy.encode()).out


def test_ignored_checks_of_write() -> None:
    """They are those of --ignore with --check."""
    text = '[everyone]\n\n[[tags]]\npaths = ["/a$b"]\nrules = ["noindex"]\n'
    noted = call("write", policy=text)
    codes = {note["code"] for note in noted["notes"]}
    assert codes
    assert noted["can_be_served"] is False
    answer = call("write", policy=text, ignore=sorted(codes))
    assert answer["notes"] == []
    assert answer["can_be_served"] is True
    problem = refused("write", policy=text, ignore=["nothing"])
    assert problem.extra["at"] == "$.ignore"


def test_tags_are_shown_as_fields_and_elements() -> None:
    """What responses of the URLs have to say, for both kinds of crawlers."""
    (table,) = call("write", policy=POLICY)["fields"]
    assert table["paths"] == ["/*.pdf$"]
    assert ["X-Robots-Tag", "googlebot: noindex, max-snippet: 50"] in [
        [name, value.lower().replace("max-snippet:50", "max-snippet: 50")]
        for name, value in table["headers"]
    ]
    assert 'name="googlebot"' in table["html"].lower()


@pytest.mark.parametrize(
    ("fields", "at", "words"),
    [
        ({}, "$.policy", "either policy or form"),
        ({"policy": "", "form": {}}, "$.policy", "either policy or form"),
        ({"policy": "x ="}, "$.policy", "not valid TOML"),
        ({"policy": "[everyone]\nkeep-out = ['a']"}, "$.policy", "line 2"),
        ({"form": {"disallow": ["a b"]}}, "$.form", "space"),
        ({"form": {"sitemaps": ["/x"]}}, "$.form", "absolute URL"),
        ({"form": {"purposes": {"nothing": "block"}}}, "$.form.purposes", "ai-training"),
        ({"form": {"comment": "é"}}, "$.form", "ASCII"),
        ({"form": {"crawl_delay": -1}}, "$.form", "0 or more"),
        ({"form": {"crawlers": [{}]}}, "$.form", "no crawler"),
        ({"form": {"crawlers": [{"crawlers": ["*"]}]}}, "$.form.crawlers[0].crawlers", "`allow`"),
        ({"policy": "", "compare": "", "compare_base64": ""}, "$.compare", "either"),
    ],
)
def test_misuse_of_write_is_located(fields: dict[str, Any], at: str, words: str) -> None:
    """A problem says which field is wrong, and how to fix it."""
    problem = refused("write", **fields)
    assert problem.extra["at"] == at
    assert words in problem.detail


def test_a_policy_does_not_name_files(tmp_path: Path) -> None:
    """A policy from the network never reads a file of the machine."""
    secret = tmp_path / "secret.txt"
    secret.write_text("Sitemap: https://example.com/secret\n", encoding="utf-8")
    problem = refused("write", policy=f"robots-txt = {json.dumps(str(secret))}\n")
    assert problem.extra["at"] == "$.policy"
    assert "example.com" not in json.dumps(problem.as_dict())


# --- write: a form --------------------------------------------------------------------------------


def proofs_of(form: dict[str, Any]) -> list[tuple[str, str, bool | None]]:
    """Return place, statement and whether it holds, of all statements of a form."""
    answer = call("write", form=form)
    assert command_part(answer) == printed("write", "-", stdin=answer["toml"].encode())
    return [(proof["at"], proof["statement"], proof["holds"]) for proof in answer["proofs"]]


def test_ai_training_is_blocked_and_search_is_allowed() -> None:
    """Each crawler of the registry gets what was asked of its purpose, on every URL."""
    form = {
        "purposes": {"ai-training": "block", "search": "allow"},
        "disallow": ["/admin/"],
        "use": {"train-ai": False},
    }
    answer = call("write", form=form)
    assert answer["proved"] is True
    robots = parse(answer["body"])
    for known in KNOWN_CRAWLERS:
        if known.status == "retired":
            continue
        blocked = "ai-training" in known.purposes and "search" not in known.purposes
        assert robots.rules_for(known.names).allows("/news/") is not blocked, known.product_token
    hinted = [hint for hint in answer["hints"] if "Amazonbot" in hint]
    assert hinted
    assert "ai-training" in hinted[0]
    assert {proof["at"] for proof in answer["proofs"]} == {
        "$.form",
        "$.form.disallow[0]",
        "$.form.use",
        "$.form.purposes.ai-training",
        "$.form.purposes.ai-training.use",
        "$.form.purposes.search",
    }
    assert "AdsBot-Google" in answer["ignore_star"]


def test_search_is_allowed_while_everyone_else_is_blocked() -> None:
    """The allowed crawlers keep the other requests to everyone."""
    form = {"purposes": {"search": "allow"}, "disallow": ["/", "/admin/"], "allow": ["/admin/a"]}
    answer = call("write", form=form)
    assert answer["proved"] is True
    robots = parse(answer["body"])
    google, other = (robots.rules_for(name) for name in ("Googlebot", "ExampleBot"))
    assert [google.allows(path) for path in ("/", "/admin/", "/admin/a")] == [True, False, True]
    assert [other.allows(path) for path in ("/", "/admin/", "/admin/a")] == [False, False, True]


def test_allowed_crawlers_do_not_obey_a_blocked_group() -> None:
    """A crawler without its own group may obey that of another name: it gets its own."""
    form = {"purposes": {"search": "block", "ads": "allow", "ai-training": "allow"}}
    answer = call("write", form=form)
    assert answer["proved"] is True
    robots = parse(answer["body"])
    allowed = [
        known.product_token
        for known in KNOWN_CRAWLERS
        if known.status != "retired" and {"ads", "ai-training"}.intersection(known.purposes)
    ]
    assert [name for name in allowed if not robots.rules_for(names_of(name)).allows("/a")] == []


def names_of(name: str) -> Any:
    """Return the names by which a well-known crawler selects groups."""
    known = KNOWN_CRAWLERS.get(name)
    assert known is not None
    return known.names


def test_entries_of_a_form_take_precedence() -> None:
    """Named crawlers are not in the groups of their purpose."""
    form = {
        "purposes": {"ai-training": "block"},
        "disallow": ["/admin/", "/x/"],
        "crawl_delay": 2.5,
        "sitemaps": ["https://example.com/sitemap é.xml"],
        "comment": 'Quotes " and \\ and a tab: see below',
        "crawlers": [
            {"crawlers": ["GPTBot"], "access": "allow", "disallow": ["/only/"]},
            {"crawlers": ["ExampleBot"], "access": "block", "allow": ["/open/"], "comment": "No"},
            {"crawlers": ["b"], "purposes": ["EXAMPLE-PURPOSE-1"], "allow": ["/x/"]},
        ],
        "tags": [{"paths": ["/a"], "rules": ["noindex"]}],
    }
    proofs = proofs_of(form)
    assert [proof for proof in proofs if proof[2] is not True] == []
    robots = parse(call("write", form=form)["body"])
    verdicts = {
        name: [
            robots.rules_for(name).allows(path) for path in ("/admin/", "/x/", "/only/", "/open/")
        ]
        for name in ("GPTBot", "ExampleBot", "b", "ClaudeBot", "c")
    }
    assert verdicts == {
        "GPTBot": [True, True, False, True],
        "ExampleBot": [False, False, False, True],
        "b": [False, True, True, True],
        "ClaudeBot": [False, False, False, False],
        "c": [False, False, True, True],
    }
    assert (
        "$.form.sitemaps[0]",
        "the file names the sitemap https://example.com/sitemap é.xml",
        True,
    ) in proofs
    # What everyone is asked applies to `b`, but for the path that it may fetch.
    words = [proof[1] for proof in proofs]
    assert "/admin/ is blocked for b, purpose EXAMPLE-PURPOSE-1" in words
    assert "/x/ is blocked for b, purpose EXAMPLE-PURPOSE-1" not in words


def test_names_that_some_parsers_cut_are_proved_for_the_others() -> None:
    """Google's parser reads `AI2Bot` as `AI`; there is nothing to prove under its profile."""
    answer = call("write", form={"crawlers": [{"crawlers": ["Foo2Bot"], "access": "block"}]})
    (proof,) = [one for one in answer["proofs"] if one["at"] == "$.form.crawlers[0]"]
    assert (proof["holds"], proof["profiles"]) == (True, ["default"])
    assert any(note["code"] == "RR413" for note in answer["notes"])


def test_hints_name_crawlers_that_obey_the_group_of_another() -> None:
    """Applebot obeys the group of Googlebot if no group names it."""
    hints = call("write", form={"crawlers": [{"crawlers": ["Googlebot"], "access": "block"}]})[
        "hints"
    ]
    assert any(hint.startswith("Applebot is blocked too") for hint in hints)


@pytest.mark.parametrize("purpose", CRAWLER_PURPOSES)
@pytest.mark.parametrize("disallow", [[], ["/"], ["/a/", "/*b$"]])
def test_every_purpose_can_be_blocked_and_allowed(purpose: str, disallow: list[str]) -> None:
    """And it is proved for all crawlers that have it."""
    for access in ("block", "allow"):
        form = {"purposes": {purpose: access}, "disallow": disallow}
        assert call("write", form=form)["proved"] is True


# --- The proofs -----------------------------------------------------------------------------------


def holds(form: Form, body: str) -> dict[str, tuple[bool | None, str | None]]:
    """Return, by statement, whether another body says what a form asks, and the witness."""
    found = prove_form(make_policy(form), body, MAX_STATES)
    return {proof.statement: (proof.holds, proof.witness) for proof in found.proofs}


def test_a_wrong_body_is_found() -> None:
    """Each statement is false for a file that does not say it, with a URL that shows it."""
    form = Form(
        disallow=["/a/"],
        allow=["/a/b"],
        use={"train-ai": False},
        crawl_delay=3,
        sitemaps=["https://example.com/s"],
        crawlers=[FormEntry(crawlers=["ExampleBot"], access="block")],
    )
    body = compose(make_policy(form).toml)
    assert {one for one, _ in holds(form, str(body)).values()} == {True}
    wrong = "User-agent: *\nDisallow: /b/\n\nUser-agent: ExampleBot\nDisallow: /\nAllow: /open\n"
    found = holds(form, wrong)
    assert found["/a/ is blocked for all other crawlers"] == (False, "https://example.com/a/")
    # Without the rule above, nothing blocks it, so this is so.
    assert found["/a/b is allowed for all other crawlers"] == (True, None)
    assert found["nothing else is blocked for all other crawlers"][0] is False
    assert found["every URL is blocked for ExampleBot"] == (False, "https://example.com/open")
    for statement, (value, _) in found.items():
        if "Content-Usage" in statement or "Crawl-delay" in statement or "sitemap" in statement:
            assert value is False, statement


paths = st.sampled_from(["/", "/a", "/a/", "/a/b$", "/*b", "/*/c", "/a*b$", "/b?x="])
some_paths = st.lists(paths, max_size=3, unique=True)
entries = st.builds(
    FormEntry,
    crawlers=st.just(["ExampleBot"]),
    access=st.sampled_from([None, "allow", "block"]),
    disallow=some_paths,
)
forms = st.builds(
    Form,
    disallow=some_paths,
    purposes=st.dictionaries(
        st.sampled_from(["ai-training", "search", "ads"]), st.sampled_from(["allow", "block"])
    ),
    crawlers=st.lists(entries, max_size=1),
)


@given(forms)
@settings(max_examples=60, deadline=None)
def test_forms_are_proved(form: Form) -> None:
    """The body of a form says what the form asks."""
    policy = make_policy(form)
    found = prove_form(policy, str(compose(policy.toml)), MAX_STATES)
    assert [proof for proof in found.proofs if proof.holds is not True] == []
    assert found.proved is True


@given(forms, forms)
@settings(max_examples=60, deadline=None)
def test_proofs_agree_with_verdicts(form: Form, other: Form) -> None:
    """Against the body of another form: a witness shows a verdict that was not asked."""
    asked = str(compose(make_policy(form).toml))
    body = str(compose(make_policy(other).toml))
    for proof in prove_form(make_policy(form), body, MAX_STATES).proofs:
        if proof.holds is False and proof.statement.startswith("every URL is blocked"):
            assert proof.witness is not None
            answers = [
                parse(body, proof.profile or "").check(proof.witness, name)
                for name in proof.crawlers
            ]
            assert any(answer.allowed for answer in answers)
    found = prove_form(make_policy(form), body, MAX_STATES)
    if asked == body:
        assert found.proved is True


def test_proofs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further statements are counted; then not everything is proved."""
    monkeypatch.setattr(policy_proofs, "MOST_PROOFS", 2)
    answer = call("write", form={"disallow": ["/a", "/b", "/c"]})
    assert (len(answer["proofs"]), answer["proofs_left_out"], answer["proved"]) == (2, 2, None)
    monkeypatch.setattr(policy_proofs, "MOST_ANSWERS", 3)
    assert call("write", form={"disallow": ["/a", "/b"]})["proofs_left_out"] == 2


def test_undecided_proofs() -> None:
    """With one state nothing is decided that needs a search, and nothing is claimed."""
    form = Form(disallow=["/*a*b*c", "/*c*b*a"])
    body = "User-agent: *\nDisallow: /*c*b*a*\nDisallow: /*a*b*c*\n"
    found = prove_form(make_policy(form), body, 1)
    assert None in {proof.holds for proof in found.proofs}
    assert found.proved is None


@pytest.mark.parametrize(
    "form",
    [
        {"disallow": ["/x"] * (policy_forms.MOST_PATHS + 1)},
        {"crawlers": [{"crawlers": ["a"]}] * (policy_forms.MOST_ENTRIES + 1)},
        {"purposes": {"ai-training": "yes"}},
        {"use": {"train": True}},
        {"Disallow": []},
        {"crawlers": [{"names": []}]},
    ],
)
def test_limits_and_unknown_fields_of_forms(form: dict[str, Any]) -> None:
    """They are refused with the place in the body."""
    assert "form" in refused("write", form=form).detail
