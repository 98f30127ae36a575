"""`robotrules diff`: statements, crawlers, formats, and refused input."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import robotrules as library
from robotrules import Reason
from robotrules.analysis import compare
from robotrules.analysis.files import SCHEMA_VERSION
from robotrules.cli import progress
from robotrules.cli.diff_markdown import MOST_CHARACTERS
from robotrules.cli.markdown import code, html_code
from robotrules.json_results.crawler_names import join_some, joined
from robotrules.json_results.diff_sections import shown_pattern
from robotrules.json_results.diff_sentences import format_lines
from robotrules.json_results.impact import SEVERAL_FORMS
from robotrules.json_results.schemas import load_schema
from robotrules.robotstxt.verdict import GroupMatch
from robotrules.url_lists import UrlFileFormat
from tests.cli.schema import objects, problems
from tests.cli.shell import Ran, robotrules
from tests.cli.sites import response, site

SCHEMA = load_schema("diff")

Diff = Callable[..., Ran]


@pytest.fixture
def diff(tmp_path: Path) -> Diff:
    """Compare two texts."""

    def run(old: str | bytes, new: str | bytes, *more: str, **how: Any) -> Ran:
        names = []
        for name, text in (("old.txt", old), ("new.txt", new)):
            path = tmp_path / name
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            names.append(str(path))
        return robotrules("diff", *names, *more, **how)

    return run


def star(*rules: str) -> str:
    """Return a file with rules for everyone."""
    return "\n".join(["User-agent: *", *rules, ""])


def for_each(names: list[str], *lines: str) -> str:
    """Return a file with a group of the same rules for each name."""
    return "\n".join("\n".join([f"User-agent: {name}", *lines, ""]) for name in names)


HARD = star("Disallow: /*a*b"), star("Disallow: /*a*b", "Disallow: /*ab*c")


class TestExitCodes:
    """0 is proved, 1 differs, 2 is neither."""

    def test_same(self, diff: Diff) -> None:
        ran = diff(star("Disallow: /a*"), star("Disallow: /a"))
        assert ran == Ran(0, "Same meaning: proved for every crawler and every URL.\n", "")

    def test_different(self, diff: Diff) -> None:
        assert diff(star("Disallow: /a"), star("Disallow: /b")).code == 1

    def test_other_records_alone(self, diff: Diff) -> None:
        ran = diff(star("Crawl-delay: 5"), star("Crawl-delay: 6"))
        assert ran.code == 1
        assert "all verdicts are proved unchanged, but Crawl-delay changes.\n" in ran.out

    @pytest.mark.parametrize("form", ["--json", "--markdown", "--max-regions=1"])
    def test_undecided_is_neither_success_nor_difference(self, diff: Diff, form: str) -> None:
        ran = diff(*HARD, "--max-states", "3", form)
        assert ran.code == 2
        assert ran.err == ("robotrules diff: not decided within 3 states; try --max-states 30\n")
        if form == "--json":
            assert json.loads(ran.out)["equal"] is None
        else:
            assert "not decided" in ran.out.lower()
            assert "Not decided within 3 states: every crawler" in ran.out
        assert diff(*HARD, form).code == 0

    def test_a_difference_is_one_whatever_else_is_not_decided(self, diff: Diff) -> None:
        ran = diff(HARD[0], f"{HARD[1]}\nUser-agent: a\nDisallow: /", "--max-states", "3")
        assert ran.code == 1
        assert "Not decided within 3 states: everyone else; try a larger --max-states.\n" in ran.out
        sitemap = diff(HARD[0], f"{HARD[1]}Sitemap: https://a.example/s", "--max-states", "3")
        assert sitemap.code == 1
        assert sitemap.out.startswith("Different: some verdicts are not decided, but Sitemap chan")

    def test_regions_that_may_not_be_all(self, diff: Diff) -> None:
        ran = diff(HARD[0], f"{HARD[1]}Disallow: /q\n", "--max-states", "3")
        assert ran.code == 1
        assert "  there may be more: not decided within 3 states\n" in ran.out

    def test_too_many_names(self, diff: Diff) -> None:
        names = [f"User-agent-purpose: p{number}" for number in range(6)]
        file = "\n".join([*names, "Disallow: /"])
        ran = diff(file, f"{file}\n# more")
        assert ran.code == 2
        assert (
            "the files name too many crawlers or purposes to compare; select some with --as"
            in ran.err
        )
        assert "Not all crawlers were compared" in ran.out
        assert diff(file, f"{file}\n# more", "--as", "a").code == 0

    def test_records_that_are_only_written_otherwise(self, diff: Diff) -> None:
        lines = [f"Content-Usage: /{number} train-ai=n" for number in range(65)]
        ran = diff(star(*lines), star(*lines, "Content-Usage: /1/2 train-ai=n"))
        assert ran.code == 2
        assert "other records differ in text, and may or may not be equivalent" in ran.err
        assert ran.out.startswith("Not decided: ")
        assert "whether it is equivalent is not decided" in " ".join(ran.out.split())

    def test_urls_decide_undecided_comparisons(self, diff: Diff, tmp_path: Path) -> None:
        """A URL that changes is a difference, even if the comparison found none."""
        old, new = star("Disallow: /*a*b"), star("Disallow: /*a*b", "Disallow: /*ba*c")
        urls = tmp_path / "urls.txt"
        urls.write_text("/bac\n", encoding="utf-8")
        assert diff(old, new, "--max-states", "3").code == 2
        ran = diff(old, new, "--max-states", "3", "--urls", str(urls))
        assert ran.code == 1
        assert ran.out.startswith("Different: the verdict on some URLs changes; not everything")
        assert (
            json.loads(diff(old, new, "--max-states", "3", "--urls", str(urls), "--json").out)[
                "equal"
            ]
            is False
        )


class TestCrawlers:
    """The crawlers of a statement, their grouping, and their order."""

    def test_everyone_else_and_everything_come_first(self, diff: Diff) -> None:
        old = for_each(["a", "b", "c"], "Disallow: /x") + star("Disallow: /x")
        new = (
            for_each(["a"], "Disallow: /y")
            + for_each(["b"], "Disallow: /")
            + for_each(["c"], "Disallow: /x")
            + star("Disallow: /z")
        )
        lines = diff(old, new).out.splitlines()
        assert [line for line in lines if line in ("a", "b", "c", "everyone else")] == [
            "everyone else",
            "b",
            "a",
        ]
        assert lines[-1] == "Proved unchanged: c."

    def test_equal_changes_are_stated_once(self, diff: Diff) -> None:
        names = [f"bot{letter}" for letter in "abcdefghijkl"]
        ran = diff(for_each(names, "Disallow: /"), for_each(names, "Disallow: /x"))
        assert ran.out.startswith("Different: some URLs become allowed for 12 named crawlers.\n")
        words = " ".join(ran.out.split())
        assert "bota, botb, botc, botd, bote, botf, botg, both and 4 more disallowed" in words
        assert "before lines 2, 5, 8 and 9 more: Disallow: /" in words
        assert words.count("such as") == 1

    def test_everyone_else_is_never_one_of_the_others(self, diff: Diff) -> None:
        names = [f"bot{letter}" for letter in "abcdefghijkl"]
        starts = "\n".join(f"User-agent: {name}" for name in [*names, "*"])
        words = " ".join(diff(f"{starts}\nDisallow: /", f"{starts}\nDisallow: /x").out.split())
        assert "12 named crawlers and everyone else." in words
        assert (
            "everyone else and bota, botb, botc, botd, bote, botf, botg, both and 4 more" in words
        )

    def test_different_exceptions_are_stated_separately(self, diff: Diff) -> None:
        """The regions are equal and the exceptions differ: one sentence would be wrong."""
        old = "User-agent: a\nAllow: /p\n\nUser-agent: b\nAllow: /q\n"
        new = "User-agent: a\nAllow: /p\nDisallow: /\n\nUser-agent: b\nAllow: /q\nDisallow: /\n"
        out = diff(old, new).out
        assert "every URL (unchanged: /p*)\n" in out
        assert "every URL (unchanged: /q*)\n" in out

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            (star("Disallow: /"), "", "every crawler: obeyed * (line 1), now has no group"),
            ("", star("Disallow: /"), "every crawler: had no group, now obeys * (line 1)"),
            (
                star("Disallow: /x"),
                star("Disallow: /x") + "User-agent: a\nAllow: /",
                "a: obeyed * (line 1), now has its own group (line 3) instead",
            ),
            (
                "User-agent: a\nDisallow: /\n",
                "User-agent: b\nDisallow: /x\nUser-agent: *\nDisallow: /x\n",
                "a: had its own group (line 1), now obeys * (line 3)",
            ),
            (
                "User-agent: a\nDisallow: /\nUser-agent: b\nUser-agent: a\nDisallow: /y\n",
                "User-agent: a\nDisallow: /x",
                "a: had its own groups (lines 1 and 3), now has its own group (line 1)",
            ),
            (
                star("Disallow: /x"),
                star("Disallow: /x") + "User-agent-purpose: p\nDisallow: /y",
                "p: obeyed * (line 1), now obeys the group of that purpose (line 3) instead",
            ),
            (
                "User-agent-purpose: p\nDisallow: /y\n\nUser-agent: a\nUser-agent-purpose: p\n"
                "Disallow: /z",
                "",
                "purpose p: obeyed the groups of that purpose (lines 1 and 4), now has no group",
            ),
            (
                for_each(["a", "b"], "Disallow: /"),
                star("Disallow: /x"),
                "a and b: had their own groups (lines 1 and 4), now obey * (line 1)",
            ),
            (
                for_each(["a", "b"], "Disallow: /"),
                "",
                "a and b: had their own groups (lines 1 and 4), now have no group",
            ),
        ],
    )
    def test_other_groups(self, diff: Diff, old: str, new: str, words: str) -> None:
        assert words in " ".join(diff(old, new).out.split())

    def test_the_same_groups_go_without_saying(self, diff: Diff) -> None:
        out = diff("User-agent: a\nDisallow: /", "\n\nUser-agent: a\nDisallow: /x").out
        assert "\na\n  disallowed" in out

    def test_some_crawlers_only(self, diff: Diff) -> None:
        old, new = for_each(["a", "b"], "Disallow: /"), for_each(["a"], "Disallow: /")
        assert diff(old, new, "--as", "A").code == 0
        assert diff(old, new, "--as", "a", "--as", "any").code == 0
        ran = diff(old, new, "--as", "b", "--as", "B", "--as", "a")
        assert ran.out.startswith("Different: every URL becomes allowed for b and B.\n")
        assert "Proved unchanged: a.\n" in ran.out
        assert diff(old, new, "--as", "*").out.startswith("Same meaning: proved for everyone else")

    def test_some_crawlers_have_records_too(self, diff: Diff) -> None:
        old = star("Disallow: /x", "Crawl-delay: 1")
        new = star("Disallow: /x", "Crawl-delay: 2") + "User-agent: c\nDisallow: /x"
        ran = diff(old, new, "--as", "a", "--as", "b", "--as", "c", "--json")
        [one, other] = json.loads(ran.out)["statements"]
        assert [crawler["name"] for crawler in one["crawlers"]] == ["a", "b"]
        assert [crawler["name"] for crawler in other["crawlers"]] == ["c"]
        assert [stated["text"] for stated in one["added"]] == ["2"]
        assert other["added"] == []

    def test_equal_records_are_stated_once(self, diff: Diff) -> None:
        old = star("Disallow: /x", "Crawl-delay: 1")
        new = for_each(["a", "b"], "Disallow: /x") + star("Disallow: /x", "Crawl-delay: 1")
        ran = diff(old, new, "--as", "a", "--as", "b")
        assert ran.out.endswith("\n  Crawl-delay for a and b\n    - line 3: Crawl-delay: 1\n")

    def test_each_crawler_alone_gives_the_full_comparison(self, diff: Diff) -> None:
        """The result with `--as` equals that crawler's part of the full comparison."""
        old = for_each(["a", "b"], "Disallow: /x") + star("Disallow: /", "Crawl-delay: 1")
        new = for_each(["b"], "Disallow: /y", "Crawl-delay: 2") + star("Disallow: /z")
        whole = json.loads(diff(old, new, "--json").out)
        assert len(whole["changes"]) == 3
        for change in whole["changes"]:
            [crawler] = change["crawlers"]
            one = json.loads(diff(old, new, "--json", "--as", crawler["product_token"]).out)
            assert one["changes"] == [change]
            theirs = [said for said in whole["statements"] if crawler in said["crawlers"]]
            assert one["statements"] == [{**said, "crawlers": [crawler]} for said in theirs]

    def test_purposes(self, diff: Diff) -> None:
        new = star("Disallow: /x") + "User-agent-purpose: p\nDisallow: /y"
        old = star("Disallow: /x")
        assert diff(old, new, "--purpose", "q").code == 0
        assert diff(old, new, "--purpose", "q", "--purpose", "p").code == 1
        assert "for any with purpose p." in diff(old, new, "--purpose", "p", "--as", "any").out
        assert "--purpose is empty" in diff(old, new, "--purpose", "").err


class TestWords:
    """Lists, numbers and patterns."""

    def test_lists(self) -> None:
        assert joined([]) == ""
        assert joined(["a"]) == "a"
        assert joined(["a", "b", "c"]) == "a, b and c"
        assert join_some(["a", "b", "c"], 2) == "a, b and c"
        assert join_some(["a", "b", "c", "d"], 2) == "a, b and 2 more"
        assert format_lines([3]) == "line 3"
        assert format_lines(range(1, 2001)) == "lines 1, 2, 3 and 1,997 more"

    @pytest.mark.parametrize(
        ("pattern", "shown"),
        [
            ("/", ""),
            ("*", ""),
            ("/*", ""),
            ("/**", ""),
            ("/$", "/$"),
            ("/a", "/a*"),
            ("/a*", "/a*"),
            ("/a**", "/a*"),
            ("/*a$", "/*a$"),
            ("*a", "*a*"),
        ],
    )
    def test_patterns_show_where_they_end(self, pattern: str, shown: str) -> None:
        assert shown_pattern(pattern) == shown

    def test_exceptions_are_the_widest(self, diff: Diff) -> None:
        """An exception within another exception is omitted."""
        rules = ["Disallow: /a/b/c", "Disallow: /a/b", "Disallow: /a/b/c/d"]
        assert "  /a* (unchanged: /a/b*)\n" in diff(star(*rules), star(*rules, "Disallow: /a")).out

    def test_more_exceptions_than_are_named(self, diff: Diff) -> None:
        rules = [f"Disallow: /{letter}" for letter in "abcdefgh"]
        out = diff(star(*rules), star(*rules, "Disallow: /")).out
        assert "every URL (unchanged: /a*, /b*, /c* …)\n" in out

    def test_two_patterns(self, diff: Diff) -> None:
        out = diff(star("Disallow: /*b"), star("Disallow: /*b", "Allow: /ac")).out
        assert "  disallowed → allowed  both /ac* and /*b*\n" in out

    def test_the_same_octets(self, diff: Diff) -> None:
        assert diff(star("Disallow: /"), star("Disallow: /")).out == (
            "Same meaning: the files are identical.\n"
        )

    def test_each_record_is_named_once(self, diff: Diff) -> None:
        old = star("Allow: /", "Content-Usage: train-ai=n")
        old += "User-agent: a\nAllow: /\nContent-Usage: train-ai=n\n"
        out = diff(old, "User-agent: a\nAllow: /\n").out
        assert "but Content-Usage changes.\n" in out
        assert "  Content-Usage for everyone else, such as at /\n" in out
        assert "  Content-Usage for a, such as at /\n" in out


class TestText:
    """One screen, for any files."""

    def test_lines_fit_the_terminal(self, diff: Diff) -> None:
        names = [f"crawler-{letter}" for letter in "abcdefghij"]
        old, new = (
            for_each(names, "Disallow: /x/"),
            for_each(names, "Disallow: /x", "Crawl-delay: 1"),
        )
        for columns in (40, 60, 80, 120):
            ran = diff(old, new, terminals=["stdout"], COLUMNS=str(columns), NO_COLOR="1")
            longest = max(map(len, ran.out.splitlines()))
            assert longest <= columns
            assert longest > columns // 2
        assert max(map(len, diff(old, new).out.splitlines())) <= 80

    def test_a_word_longer_than_a_line_stays_whole(self, diff: Diff) -> None:
        out = diff(star(), star(f"Disallow: /{'a' * 150}")).out
        assert f"\n    such as  /{'a' * 150}\n" in out
        assert not re.search(r" $", out, re.MULTILINE)

    def test_colour(self, diff: Diff) -> None:
        ran = diff(star(), star("Disallow: /x", "Crawl-delay: 1"), FORCE_COLOR="1")
        assert "\x1b[33mDifferent\x1b[0m: some URLs become" in ran.out
        assert "\x1b[32mallowed\x1b[0m → \x1b[31mdisallowed\x1b[0m  /x*" in ran.out
        assert "\x1b[32m    + line 3: Crawl-delay: 1\x1b[0m" in ran.out
        plain = diff(star(), star("Disallow: /x", "Crawl-delay: 1"))
        assert re.sub(r"\x1b\[\d+m", "", ran.out) == plain.out
        assert (
            "\x1b[32mSame\x1b[0m \x1b[32mmeaning\x1b[0m: proved"
            in diff("", "#", FORCE_COLOR="1").out
        )

    @pytest.mark.parametrize("form", ["", "--markdown"])
    @pytest.mark.parametrize("profile", ["default", "google"])
    def test_control_characters_stay_in_the_file(self, diff: Diff, form: str, profile: str) -> None:
        evil = "\x1b[2J\x07\x85\u202e"
        old = (
            f"User-agent: a{evil}\nDisallow: /{evil}\nContent-Usage: /{evil} train-ai=n\n"
            f"Sitemap: https://a.example/{evil}\n{star(f'Disallow: /x{evil}')}"
        )
        ran = diff(old, star("Disallow: /y"), "--profile", profile, *filter(None, [form]))
        assert ran.code == 1
        assert not set(ran.out) & set(evil[0] + evil[4:])

    def test_long_texts_are_cut(self, diff: Diff) -> None:
        long = "a" * 5_000
        old = f"User-agent: {long}\nDisallow: /{long}\nCrawl-delay: {'1' * 5_000}\n"
        for form in ([], ["--markdown"]):
            ran = diff(old, star("Disallow: /x"), *form)
            assert ran.code == 1
            assert len(ran.out) < 5_000
            assert "aaa…" in ran.out

    def test_many_of_everything(self, diff: Diff) -> None:
        """Hundreds of crawlers, regions and records are a page or two."""
        names = [f"bot-{letter}" for letter in "abcdefghijklmnopqrst"]
        old = "".join(for_each([name], f"Disallow: /{name}/") for name in names)
        new = "".join(for_each([name], f"Disallow: /{name}") for name in names)
        new += star(*(f"Disallow: /{number}" for number in range(40)))
        new += "".join(f"Sitemap: https://a.example/{number}\n" for number in range(40))
        ran = diff(old, new)
        assert ran.out.count("\n") < 120
        assert "  and 35 regions more (--max-regions 40)\n" in ran.out
        assert "    and 30 lines more (see --json)\n" in ran.out
        assert "More changes, for bot-l, bot-m" in ran.out
        assert diff(old, new, "--max-regions", "40").out.count("  allowed → disallowed") == 40 + 11
        values = json.loads(diff(old, new, "--json").out)
        assert len(values["changes"]) == 21
        assert sum(len(change["regions"]) for change in values["changes"]) == 60
        asked = [r["unchanged"] for change in values["changes"] for r in change["regions"]]
        assert asked.count(None) == 10

    def test_a_bar_while_it_compares(self, diff: Diff) -> None:
        names = [f"bot{letter}" for letter in "abcdefgh"]
        old, new = for_each(names, "Disallow: /"), for_each(names, "Disallow: /x")
        with (
            mock.patch.object(progress, "FIRST_AFTER", -1),
            mock.patch.object(progress, "_draw") as draw,
        ):
            assert diff(old, new).code == 1
            assert not draw.call_args_list
            assert diff(old, new, terminals=["stderr"]).err == ""
        *drawn, last = (call.args[1] for call in draw.call_args_list)
        assert "crawler" in drawn[-1]
        assert last == ""


class TestMarkdown:
    """File content is escaped as data."""

    @pytest.mark.parametrize(
        "text",
        [
            "a`b",
            "``",
            "a|b",
            "a\\|b",
            "</details>",
            "<!--",
            "[a](b)",
            "**a**",
            " a ",
            "",
            "@team",
            "#1",
            "a\nb",
            "&amp;",
            "https://a.example/",
            "é`",
        ],
    )
    def test_code_contains_any_text(self, text: str) -> None:
        """A span cannot be closed early, nor a cell; an element has only letters and references."""
        found = code(text)
        if found.startswith("`"):
            assert found == f"`{text}`".replace("\n", "\\x0a")
            assert found[1:-1].strip() == found[1:-1] != ""
            assert not set(found[1:-1]) & set("`|\n")
        else:
            assert re.fullmatch(r"<code>(?:[A-Za-z0-9 ]|&#[0-9]+;)*</code>", found)
        inside = html_code(text).removeprefix("<code>").removesuffix("</code>")
        back = re.sub("&#([0-9]+);", lambda one: chr(int(one[1])), inside)
        assert back == text.replace("\n", "\\x0a")

    def test_markup_is_escaped(self, diff: Diff) -> None:
        evil = "|`<img src=x>*_[a](b)</details>@team"
        old = (
            f"User-agent: {evil}\nDisallow: /{evil}\nContent-Usage: /{evil} train-ai=n\n"
            f"Sitemap: https://a.example/{evil}\n\nUser-agent-purpose: {evil}\nDisallow: /{evil}b\n"
        )
        out = diff(old, star("Disallow: /x"), "--markdown").out
        left = re.sub(r"`[^`\n|]+`|<code>[A-Za-z0-9 &#;]*</code>", "", out)
        left = re.sub(r"</?details>|</?summary>", "", left)
        assert not set(left) & set("`<>[]@_")
        tables = [line for line in left.splitlines() if line.startswith("|")]
        assert len(tables) > 4
        assert {line.count("|") for line in tables} == {6}

    def test_long_output_is_folded(self, diff: Diff) -> None:
        old = star(*(f"Disallow: /{number}/" for number in range(40)))
        new = star(*(f"Disallow: /{number}" for number in range(40)))
        out = diff(old, new, "--markdown").out
        assert out.count("| allowed → **disallowed** |") == 25
        assert "<details><summary>20 regions more</summary>\n\n| URLs" in out
        assert "\n</details>\n\nAnd 15 regions more.\n" in out

    def test_records_and_unknown_results(self, diff: Diff) -> None:
        sitemaps = [f"Sitemap: https://a.example/{number}" for number in range(12)]
        old, new = star("Disallow: /*a*b", *sitemaps), HARD[1]
        out = diff(old, new, "--markdown", "--max-states", "3").out
        assert "\nSitemap:\n\n- removed line 3: `Sitemap: https://a.example/0`\n" in out
        assert "- removed 2 lines more\n" in out
        assert out.endswith("\nNot decided within 3 states: every crawler.\n")
        out = diff(old, f"{new}Disallow: /q\n", "--markdown", "--max-states", "3").out
        assert "\nThere may be more: not decided within 3 states.\n" in out
        names = "\n".join(f"User-agent-purpose: p{number}" for number in range(6))
        assert "\nNot all crawlers were compared: " in diff(names, "", "--markdown").out

    def test_a_comment_has_an_end(self, diff: Diff) -> None:
        names = [f"bot-{letter}" for letter in "abcdef"]
        rules = [f"Disallow: /{number}{'x' * 110}" for number in range(25)]
        old = "".join(for_each([name], *rules) for name in names)
        new = "".join(for_each([name], *(f"{rule}{name}" for rule in rules)) for name in names)
        out = diff(old, f"{new}User-agent: last\nDisallow:", "--markdown").out
        assert MOST_CHARACTERS * 0.7 < len(out) < MOST_CHARACTERS + 1_000
        assert "This comment is too short for all changes. More changes, for `bot-" in out
        assert out.rstrip().endswith("Proved unchanged: `last` and everyone else.")


class TestUrls:
    """`--urls`: changes for real URLs."""

    def test_in_every_form(self, diff: Diff, tmp_path: Path) -> None:
        urls = tmp_path / "urls.txt"
        urls.write_text("/a\n/ab\n/b\nnothing\n", encoding="utf-8")
        files = star("Disallow: /a$"), star("Disallow: /a")
        text = diff(*files, "--urls", str(urls)).out
        assert ", 1 (33.3%) gets another verdict for at least one crawler." in " ".join(
            text.split()
        )
        assert "  now disallowed: /ab\n" in text
        markdown = diff(*files, "--urls", str(urls), "--markdown").out
        assert "\n#### On real URLs\n\nOf 3 URLs in " in markdown
        values = json.loads(diff(*files, "--urls", str(urls), "--json").out)
        assert list(problems(values, SCHEMA)) == []
        assert values["impact"]["crawlers"][0]["crawlers"] == "every crawler"
        assert values["impact"]["crawlers"][0]["newly_disallowed"] == 1
        assert values["impact"]["skipped"]["lines"] == 1

    def test_from_stdin(self, diff: Diff) -> None:
        ran = diff(star(), star("Disallow: /a"), "--urls", "-", stdin=b"/a\n/b\n")
        assert "Of 2 URLs in 'stdin', 1 (50.0%) gets another verdict" in ran.out

    def test_several_files(self, diff: Diff, tmp_path: Path) -> None:
        """All of them are counted; a file that the shell added to one `--urls` is refused."""
        first, second = tmp_path / "a.log", tmp_path / "b.log"
        first.write_text("/a\n/b\n", encoding="utf-8")
        second.write_text("/a\n", encoding="utf-8")
        files, names = (star(), star("Disallow: /a")), (str(first), str(second))
        ran = diff(*files, "--urls", names[0], "--urls", names[1], "--json")
        values = json.loads(ran.out)
        assert list(problems(values, SCHEMA)) == []
        assert (values["impact"]["urls"], values["impact"]["changed"]) == (3, 2)
        assert [one["file"] for one in values["impact"]["files"]] == [*names]
        ran = diff(*files, "--urls", *names)
        assert ran.code == 2
        assert "is a file and not a URL: repeat --urls for each file, as in --urls" in ran.err
        assert "no such file" in diff(*files, "--urls", names[0], "--urls", "none").err
        assert "unexpected extra argument 'x'" in diff(*files, "x").err

    def test_more_kinds_than_there_is_time_for(self, diff: Diff, tmp_path: Path) -> None:
        names = [f"{letter}-{way}" for letter in "abcdefghijklmnopqrstuvwxyz" for way in "ab"]
        old = "".join(for_each([name], f"Disallow: /{name}/") for name in names)
        new = "".join(for_each([name], f"Disallow: /{name}") for name in names)
        ran = diff(old, new, "--urls", "-", stdin=b"/a-a\n")
        assert "counted for 50 sections only; select other crawlers with --as" in ran.err
        assert ran.code == 1


class TestFiles:
    """Files that are compared, and files that are refused."""

    def test_stdin_is_either(self, tmp_path: Path) -> None:
        file = tmp_path / "robots.txt"
        file.write_text(star("Disallow: /x"), encoding="utf-8")
        body = star("Disallow: /").encode()
        assert "every URL becomes allowed" not in robotrules("diff", str(file), "-", stdin=body).out
        ran = robotrules("diff", "-", str(file), "--json", stdin=body)
        values = json.loads(ran.out)
        assert (values["old"], values["new"]) == (None, str(file))
        assert values["changes"][0]["regions"][0]["new"]["allowed"] is True

    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    def test_profiles(self, diff: Diff, profile: str) -> None:
        """Profile google reads an index page as its directory, too."""
        ran = diff(
            star("Disallow: /", "Allow: /a/index.html"),
            star("Disallow: /", "Allow: /a/index.html", "Allow: /a/$"),
            *("--profile", profile, "--json"),
        )
        assert json.loads(ran.out)["profile"] == profile
        assert ran.code == (0 if profile == "google" else 1)

    def test_notes_about_a_file(self, diff: Diff) -> None:
        ran = diff("<html>", star("Disallow: /"))
        assert "old.txt': The file starts like an HTML page.\n" in ran.err
        assert ran.code == 1

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["-", "-"], "stdin can be read only once"),
            (["/dev/null", "-", "--urls", "-"], "stdin can be read only once"),
            (["/dev/null"], "Missing argument 'NEW'"),
            (["/dev/null", "/dev/null", "--json", "--markdown"], "cannot be combined"),
            (["/dev/null", "/dev/null", "--max-regions", "0"], "--max-regions"),
            (["/dev/null", "/dev/null", "--max-states", "0"], "--max-states"),
            (["/dev/null", "gone.txt"], "no such file"),
            (["/dev/null", "gopher://a.example"], "pass a file, or an origin such as"),
            (["https://a.example/b", "/dev/null"], "is not an origin: pass"),
            (
                ["https://a.example/?q", "/dev/null"],
                "pass https://a.example to compare its robots.txt, or save the file",
            ),
        ],
    )
    def test_errors_are_one_line(self, arguments: list[str], words: str) -> None:
        ran = robotrules("diff", *arguments)
        assert ran[:2] == (2, "")
        assert ran.err.startswith("robotrules diff: ")
        assert words in ran.err
        assert ran.err.count("\n") == 1


class TestLive:
    """An origin instead of a file: its current robots.txt is fetched."""

    HERE = ("--allow-private", "127.0.0.1")

    def test_the_served_file(self, tmp_path: Path) -> None:
        file = tmp_path / "robots.txt"
        file.write_text(star("Disallow: /a*"), encoding="utf-8")
        with site({"/robots.txt": response(star("Disallow: /a"))}) as live:
            for origin in (live.origin, f"{live.origin}/", f"{live.origin}/robots.txt"):
                ran = robotrules("diff", origin, str(file), *self.HERE)
                assert ran == Ran(0, "Same meaning: proved for every crawler and every URL.\n", "")
            assert live.asked == ["/robots.txt"] * 3
            assert robotrules("diff", live.origin, live.origin, *self.HERE).code == 0

    def test_no_robots_txt_allows_everything(self) -> None:
        with site({}) as live:
            ran = robotrules("diff", live.origin, "/dev/null", *self.HERE)
        assert ran.code == 0
        assert ran.err.endswith(": there is no robots.txt (status 404)\n")

    def test_an_unreachable_file(self) -> None:
        with site({"/robots.txt": response(status="503 Service Unavailable")}) as live:
            ran = robotrules("diff", live.origin, "/dev/null", *self.HERE)
        assert ran[:2] == (2, "")
        assert ": the robots.txt is unreachable (status 503)" in ran.err

    def test_a_stored_copy_is_labelled(self) -> None:
        answers = {"/robots.txt": response(star("Disallow: /a"))}
        with site(answers) as live:
            assert robotrules("diff", live.origin, "/dev/null", *self.HERE).code == 1
            live.answers = {"/robots.txt": response(status="503 Service Unavailable")}
            ran = robotrules("diff", live.origin, "/dev/null", *self.HERE)
        assert ran.code == 1
        assert "cannot be fetched now (status 503); the stored copy, fetched" in ran.err


class TestSchema:
    """`diff.schema.json` describes the output of `--json` completely."""

    BODIES = (
        star("Disallow: /private/", "Crawl-delay: 1", "Content-Usage: train-ai=n"),
        for_each(["a", "b"], "Disallow: /", "Allow: /x") + "Sitemap: https://a.example/s\n",
        "User-agent-purpose: p\nDisallow: /p\n" + star("Allow: /*.gif$", "Disallow:"),
        "",
    )

    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    def test_the_output_matches_the_schema(self, diff: Diff, profile: str) -> None:
        for old in self.BODIES:
            for new in self.BODIES:
                for more in ([], ["--as", "a"], ["--max-regions", "1"]):
                    ran = diff(old, new, "--json", "--profile", profile, *more)
                    values = json.loads(ran.out)
                    assert list(problems(values, SCHEMA)) == []
                    assert ran.code == int(not values["equal"])

    def test_the_library_has_the_same(self, diff: Diff) -> None:
        """Except file names, real URLs, and the unchanged parts of regions."""
        old, new = self.BODIES[:2]
        printed = json.loads(diff(old, new, "--json").out)
        for change in printed["changes"]:
            for region in change["regions"]:
                region.pop("unchanged")
                region.pop("unchanged_complete")
        for name in ("old", "new", "other_profiles", "impact"):
            printed.pop(name)
        assert printed == compare(library.parse(old), library.parse(new)).as_dict()

    def test_most_bounds_the_regions(self, diff: Diff) -> None:
        old, new = star("Disallow: /a", "Disallow: /b"), star()
        [change] = json.loads(diff(old, new, "--json", "--max-regions", "1").out)["changes"]
        assert (len(change["regions"]), change["complete"]) == (1, False)
        [change] = json.loads(diff(old, new, "--json").out)["changes"]
        assert (len(change["regions"]), change["complete"]) == (2, True)

    @pytest.mark.parametrize(("number", "complete"), [(6, True), (7, False)])
    def test_the_list_of_unchanged_parts_says_whether_it_is_complete(
        self, diff: Diff, number: int, complete: bool
    ) -> None:
        """Its first parts are no statement about the others."""
        kept = [f"Disallow: /{letter}" for letter in "abcdefg"[:number]]
        printed = json.loads(diff(star("Disallow: /", *kept), star(*kept), "--json").out)
        [change] = printed["changes"]
        [region] = change["regions"]
        assert len(region["unchanged"]) == 6
        assert region["unchanged_complete"] is complete

    def test_the_checker_finds_errors(self, diff: Diff) -> None:
        good = json.loads(diff(*self.BODIES[:2], "--json").out)
        [change, *_] = good["changes"]
        [region, *_] = change["regions"]
        wrongs: list[dict[str, Any]] = [
            {"schema": 2},
            {"old": 1},
            {"equal": "yes"},
            {"more": 1},
            {"changes": [{**change, "states": -1}]},
            {"changes": [{**change, "old": {"matched_by": "so", "lines": []}}]},
            {"changes": [{**change, "regions": [{**region, "old": None}]}]},
            {"changes": [{**change, "regions": [{**region, "unchanged": False}]}]},
            {"statements": [{}]},
            {"impact": {}},
        ]
        assert list(problems(good, SCHEMA)) == []
        for wrong in wrongs:
            assert list(problems({**good, **wrong}, SCHEMA)), wrong
        for name in good:
            assert list(problems({key: good[key] for key in good if key != name}, SCHEMA)), name

    def test_everything_is_required_described_and_closed(self) -> None:
        for schema in objects(SCHEMA):
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
            assert all(len(value["description"]) > 10 for value in schema["properties"].values())

    def test_codes_are_those_of_the_library(self) -> None:
        definitions = SCHEMA["$defs"]
        assert SCHEMA["properties"]["schema"]["const"] == SCHEMA_VERSION
        assert set(definitions["obeyed"]["properties"]["matched_by"]["enum"]) == set(GroupMatch)
        forms = definitions["impact"]["properties"]["form"]["enum"]
        assert {*forms} == {*UrlFileFormat, SEVERAL_FORMS}
        assert {*definitions["url_source"]["properties"]["form"]["enum"]} == {*UrlFileFormat}
        of_clients = {Reason.UNAVAILABLE, Reason.UNREACHABLE, Reason.RESTRICTED, Reason.NO_ORIGIN}
        reasons = definitions["verdict"]["properties"]["reason"]["enum"]
        assert set(reasons) == set(Reason) - of_clients


class TestOtherProfiles:
    """If two files are equivalent, other profiles are compared too."""

    def test_a_typo_that_one_profile_reads(self, tmp_path: Path) -> None:
        """`Disalow` is a rule by default; a line names the profiles that differ."""
        old, new = tmp_path / "old.txt", tmp_path / "new.txt"
        old.write_text("User-agent: *\nDisallow: /a\n")
        new.write_text("User-agent: *\nDisalow: /a\n")
        ran = robotrules("diff", str(old), str(new))
        assert ran.code == 0
        assert ran.out.splitlines()[1].startswith("Under profile strict they differ")
        assert "Under profile strict" in robotrules("diff", str(old), str(new), "--markdown").out
        values = json.loads(robotrules("diff", str(old), str(new), "--json").out)
        assert values["other_profiles"] == {"strict": False, "google": True}
        assert robotrules("diff", str(old), str(new), "--profile", "strict").code == 1

    def test_no_other_profiles_where_the_files_differ(self, tmp_path: Path) -> None:
        """One difference is enough."""
        old, new = tmp_path / "old.txt", tmp_path / "new.txt"
        old.write_text("User-agent: *\nDisallow: /a\n")
        new.write_text("User-agent: *\nDisallow: /b\n")
        assert (
            json.loads(robotrules("diff", str(old), str(new), "--json").out)["other_profiles"]
            is None
        )

    def test_a_name_that_no_grammar_knows(self, tmp_path: Path) -> None:
        """Profile strict is skipped for a crawler name that it cannot evaluate."""
        old, new = tmp_path / "old.txt", tmp_path / "new.txt"
        old.write_text("User-agent: MJ12bot\nDisallow: /a\n")
        new.write_text("User-agent: MJ12bot\nDisallow: /a*\n")
        ran = robotrules("diff", str(old), str(new), "--as", "MJ12bot")
        assert ran.code == 0
        assert ran.err == ""


class TestGathered:
    """The changes of one rule are stated once, if that statement is complete."""

    def test_a_removed_rule_is_one_change(self, tmp_path: Path) -> None:
        """If no rule or an allow rule decides now, the removed rule is the change."""
        star = "User-agent: *\nDisallow: /cart\nDisallow: /*?dir=\n"
        old, new = tmp_path / "old.txt", tmp_path / "new.txt"
        old.write_text(star)
        new.write_text(f"{star}\nUser-agent: Googlebot\nAllow: /*.css$\nAllow: /*.js$\n")
        shown = robotrules("diff", str(old), str(new)).out
        assert shown.count("disallowed → allowed") == 2
        assert "now      no rule matches; elsewhere 2 other rules" in shown
        assert (
            len(
                json.loads(robotrules("diff", str(old), str(new), "--json").out)["changes"][0][
                    "regions"
                ]
            )
            == 6
        )

    def test_a_rule_that_changes_only_a_part_of_its_urls(self, tmp_path: Path) -> None:
        """Most of /catalogue/ was allowed before."""
        old, new = tmp_path / "old.txt", tmp_path / "new.txt"
        old.write_text("User-agent: *\nDisallow: /*?sid=\nDisallow: /*/print\n")
        new.write_text(f"{old.read_text()}Allow: /catalogue/\n")
        shown = robotrules("diff", str(old), str(new)).out
        assert shown.count("both /catalogue/* and") == 2


class TestWellKnownCrawlers:
    """They select groups by the registry, and by their names with `--literal`."""

    ADS = star("Disallow: /a") + "\nUser-agent: AdsBot-Google\nDisallow: /a\n"
    NEWS = star("Disallow: /a") + "\nUser-agent: Googlebot-News\nDisallow: /a\n"
    GOOGLEBOT = star("Disallow: /a") + "\nUser-agent: Googlebot\nAllow: /\n"

    @pytest.mark.parametrize("more", [(), ("--as", "adsbot-google")])
    def test_a_crawler_that_ignores_the_star(self, diff: Diff, more: tuple[str, ...]) -> None:
        """Without its own group it obeys none, whatever the group for `*` contains."""
        ran = diff(self.ADS, star("Disallow: /a"), *more)
        assert ran.code == 1
        assert "AdsBot-Google: had its own group (line 4), now has no group\n" in ran.out
        assert ran.out.count("checked 20") == 1
        literal = diff(self.ADS, star("Disallow: /a"), "--literal", *more)
        assert literal.code == 0
        assert "registry" not in literal.out

    @pytest.mark.parametrize("more", [(), ("--as", "Googlebot-News")])
    def test_a_crawler_with_a_next_name(self, diff: Diff, more: tuple[str, ...]) -> None:
        """It obeys the group of that name, and the output names it."""
        ran = diff(self.NEWS, self.GOOGLEBOT, *more)
        assert ran.code == 1
        words = "Googlebot-News: had its own group (line 4), now obeys the group of Googlebot"
        assert words in ran.out
        back = diff(self.GOOGLEBOT, self.NEWS, *more)
        words = "Googlebot-News: obeyed the group of Googlebot (line 4), now has its own group"
        assert words in back.out
        literal = diff(self.NEWS, self.GOOGLEBOT, "--literal", "--as", "Googlebot-News")
        assert literal.code == 0

    def test_crawlers_that_no_file_names(self, diff: Diff) -> None:
        """They are shown if no named crawler obeys the same groups."""
        yandex = self.ADS.replace("AdsBot-Google", "Yandex")
        ran = diff(yandex, star("Disallow: /a"))
        assert ran.code == 1
        assert "YandexCalendar and YandexMobileBot: obeyed the group of Yandex (line 4)" in ran.out
        assert "Proved unchanged: Yandex and everyone else." in ran.out
        # Applebot obeys the same groups as Googlebot; crawlers that ignore `*` have none.
        ran = diff(self.GOOGLEBOT, star("Disallow: /b"))
        assert "Applebot" not in ran.out
        assert "AdsBot" not in ran.out

    def test_names_that_are_not_product_tokens(self, diff: Diff) -> None:
        """The registry contains the form that parsers read."""
        ran = diff(self.GOOGLEBOT, star("Disallow: /a"), "--as", "Screaming Frog SEO Spider")
        assert ran.code == 1
        assert "'Screaming Frog SEO Spider': obeyed the group of Googlebot" in ran.out
        same = star("Disallow: /a"), star("Disallow: /a*"), "--as", "MJ12bot"
        assert diff(*same, "--profile", "strict").code == 0
        assert diff(*same, "--profile", "strict", "--literal").code == 2

    def test_json(self, diff: Diff) -> None:
        """The entry of the registry, and by which name groups are obeyed."""
        found = json.loads(diff(self.NEWS, self.GOOGLEBOT, "--json").out)
        assert list(problems(found, SCHEMA)) == []
        (news,) = (
            change
            for change in found["changes"]
            if change["crawlers"][0]["product_token"] == "Googlebot-News"
        )
        assert news["crawlers"][0]["known"]["names"] == ["Googlebot-News", "Googlebot"]
        assert (news["old"]["by"], news["new"]["by"]) == (None, "Googlebot")
        assert found["changes"][-1]["crawlers"][0]["known"] is None

    def test_markdown(self, diff: Diff) -> None:
        """It contains source and day too."""
        ran = diff(self.ADS, star("Disallow: /a"), "--markdown")
        assert "AdsBot-Google ignores groups for `*` (https://" in ran.out
        assert "`--literal` compares by product token only." in ran.out
