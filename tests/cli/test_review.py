"""`robotrules review`: checks over a repository, its reports, and what is refused."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from robotrules.cli.markdown import code_block
from robotrules.cli.review_markdown import MOST_LINES, ReviewPage, ReviewResult
from robotrules.linting.render import LintedFile
from tests.cli.shell import Ran, robotrules
from tests.lint.rendered import note
from tests.operations.forge_server import TOKEN, ForgeServer, forge
from tests.operations.repositories import Repository

RULES = b"User-agent: *\nDisallow: /private/\n"
OTHER = b"User-agent: *\nDisallow: /\n"
CI_VARIABLES = ("GITHUB_ACTIONS", "GITLAB_CI", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with one commit of a robots.txt, as the working folder."""
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    made = Repository(tmp_path)
    made.commit("first", robots_txt=RULES)
    return made


def review(*arguments: str, **how: Any) -> Ran:
    """Run the command against the last commit, or another one."""
    base = () if "--base" in arguments else ("--base", "HEAD")
    return robotrules("review", *base, *arguments, **how)


class TestChecks:
    """Each check gives a row, and its findings."""

    def test_nothing_changed(self) -> None:
        ran = review()
        assert ran.code == 0
        assert ran.out.startswith("## robots.txt: no file changed\n")
        assert "| test | no expectation file; `robotrules test --init` writes one |" in ran.out

    def test_the_working_tree_counts(self) -> None:
        """A change need not be committed."""
        Path("robots.txt").write_bytes(OTHER)
        ran = review("--checks", "diff")
        assert ran.code == 0
        assert "allowed → **disallowed**" in ran.out

    def test_the_same_meaning(self) -> None:
        Path("robots.txt").write_bytes(RULES + b"# a comment\n")
        ran = review("--checks", "diff")
        assert ran.out.startswith("## robots.txt: same meaning\n")
        assert "1 with the same meaning" in ran.out

    def test_format(self) -> None:
        Path("robots.txt").write_bytes(b"user-agent:*\nDisallow:/private/\n")
        ran = review("--checks", "fmt")
        assert ran.code == 1
        assert "| fmt | ❌ 1 file to format: `robotrules fmt` |" in ran.out
        assert "a check failed" in ran.out
        assert Path("robots.txt").read_bytes().startswith(b"user-agent:*")
        Path("robots.txt").write_bytes(RULES)
        assert "| fmt | ✅ 1 file |" in review("--checks", "fmt").out

    def test_expectations(self) -> None:
        """Those of all folders; an error in a file is told."""
        Path("a").mkdir()
        Path("a/robots.txt").write_bytes(RULES)
        Path("a/robots.test.toml").write_text('[[expect]]\nallowed = ["/", "/private/"]\n')
        ran = review("--checks", "test")
        assert ran.code == 1
        assert "| test | ❌ 1 failed, 1 passed |" in ran.out
        assert "failed  a/robots.test.toml:2: everyone else: /private/ is allowed" in ran.out
        Path("a/robots.test.toml").write_text("[[expect]")
        ran = review("--checks", "test")
        assert ran.code == 2
        assert "| test | ❗ " in ran.out
        Path("robotrules.toml").write_text("[test]\nfiles = 1\n")
        assert review("--checks", "test").code == 2

    def test_an_undecided_change(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Is not called a change, and not the same either."""
        monkeypatch.setattr("robotrules.cli.review.MAX_STATES", 1)
        Path("robots.txt").write_bytes(b"User-agent: *\nDisallow: /*a*b*c\nAllow: /*d*e*f$\n")
        ran = review("--checks", "diff", "--json")
        [one] = json.loads(ran.out)["diff"]["files"]
        assert one["equal"] in (None, False)

    @pytest.mark.parametrize("place", ["elsewhere", ".git/secret", "untracked"])
    def test_links(self, place: str, tmp_path_factory: pytest.TempPathFactory) -> None:
        """Are not read: they could name any file of the machine, or one that is not committed."""
        secret = Path(place)
        if place == "elsewhere":
            secret = tmp_path_factory.mktemp("other") / "file"
        secret.write_bytes(b"User-agent: *\nDisallow: hunter2\n")
        Path("b.robots.txt").symlink_to(secret.resolve())
        Path("folder").symlink_to(".")
        Repository.at(Path.cwd()).git("add", "b.robots.txt", "folder")
        ran = review(*("--checks", "lint,fmt,diff"), ".", "folder/robots.txt")
        assert "hunter2" not in ran.out
        for name in ("b.robots.txt", "folder/robots.txt"):
            words = f"{name} is a symbolic link, or in a folder that is one, and is not read"
            assert words in ran.out
        assert "b.robots.txt is a symbolic link, which is not compared" in ran.out
        assert " in 1 file |" in ran.out

    def test_a_repository_that_is_reached_by_a_link(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """Is read: it is the caller who names it."""
        alias = tmp_path_factory.mktemp("aliases") / "alias"
        alias.symlink_to(Path.cwd())
        Path("robots.test.toml").write_text('[[expect]]\nallowed = "/"\n')
        ran = review("--checks", "lint,test", str(alias))
        assert (ran.code, ran.err) == (0, "")
        assert " in 1 file |" in ran.out
        assert "| test | ✅ 1 passed |" in ran.out

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ('robots = "link.txt"', "'link.txt', which is read through a symbolic link"),
            ('robots = "folder/../robots.txt"', "read through a symbolic link"),
            ('robots = ".git/config"', "'.git/config', which is a file of git itself"),
            ('robots = "../none.txt"', "'../none.txt', which is not in the repository"),
            ("", "'robots.test.toml' names 'page.html', which is read through a symbolic link"),
        ],
    )
    def test_files_that_expectations_name(
        self, text: str, words: str, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """Are files of the repository, too: a failure quotes them."""
        elsewhere = tmp_path_factory.mktemp("other")
        for name in ("link.txt", "page.html"):
            Path(name).symlink_to(".git/config")
        Path("folder").symlink_to(elsewhere)
        expected = '[[expect]]\nallowed = "/"\n'
        if not text:
            expected = '[[expect]]\npage = "page.html"\ntags = "noai"\n'
        Path("robots.test.toml").write_text(f"{text}\n{expected}")
        ran = review("--checks", "test")
        assert ran.code == 2
        assert words in ran.err
        assert ran.err.rstrip().endswith("name a file of the repository")

    def test_an_expectation_file_that_is_a_link(self) -> None:
        """Is an error: the tests would be missing otherwise."""
        Path(".git/secret").write_text('hunter2 = "hunter2"\n')
        Path("robots.test.toml").symlink_to(".git/secret")
        ran = review("--checks", "test")
        assert (ran.code, "hunter2" in ran.out + ran.err) == (2, False)
        assert "'robots.test.toml', which is read through a symbolic link" in ran.err

    def test_settings(self) -> None:
        """Of the project: excluded folders are not compared either."""
        Path("robotrules.toml").write_text('[lint]\nexclude = ["drafts"]\n')
        Path("drafts").mkdir()
        for name in ("drafts/robots.txt", "robots.txt"):
            Path(name).write_bytes(OTHER)
        assert "### `robots.txt`" in review().out
        assert "drafts" not in review().out

    def test_from_a_folder_below(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Only its files are reviewed; a deleted file can be named."""
        Path("a").mkdir()
        Path("a/robots.txt").write_bytes(RULES)
        monkeypatch.chdir("a")
        ran = review("--checks", "lint,diff")
        assert "no file changed" in ran.out
        assert " in 1 file |" in ran.out
        Path("../robots.txt").unlink()
        assert "### `robots.txt`: deleted" in review("../robots.txt").out


class TestReports:
    """JSON, JUnit, SARIF."""

    def test_json(self) -> None:
        Path("robots.txt").write_bytes(OTHER + b"Disallow: x/\n")
        value = json.loads(review("--checks", "lint,fmt,test,diff", "--json").out)
        assert value["passed"] is False
        assert value["lint"]["counts"]["error"] == 1
        assert value["fmt"] == {"failed": False, "changed": [], "errors": []}
        assert value["test"] == {"failed": 0, "passed": 0, "files": 0, "errors": []}
        assert value["diff"]["files"] == [
            {"path": "robots.txt", "status": "modified", "old_path": "robots.txt", "equal": False}
        ]
        assert json.loads(review("--checks", "lint", "--json").out)["diff"] is None

    def test_junit_and_sarif(self) -> None:
        Path("robots.txt").write_bytes(RULES + b"Disallow: x/\n")
        Path("robots.test.toml").write_text('[[expect]]\nallowed = "/"\n')
        assert review("--junit", "out.xml", "--sarif", "out.sarif").code == 1
        suites = ElementTree.parse("out.xml").getroot()
        assert [suite.get("name") for suite in suites] == ["robots.txt", "robots.test.toml"]
        assert suites.get("failures") == "1"
        log = json.loads(Path("out.sarif").read_bytes())
        assert "RR505" in {one["ruleId"] for one in log["runs"][0]["results"]}

    def test_the_room_is_shared(self) -> None:
        """Long findings are cut; all of it stays below the limit of a comment."""
        result = ReviewResult(("lint",))
        result.linted = [LintedFile(b"robots.txt", notes=(note(message="x" * 10_000),) * 5_000)]
        lines = list(ReviewPage(result).lines())
        assert sum(map(len, lines)) < 60_000
        assert f"… and {5_000 - MOST_LINES:,} lines more" in lines[-3]

    def test_a_code_block_is_not_closed(self) -> None:
        assert code_block(["```", "", "\x1b\n- x"]) == ["    ```", "", "    \\x1b\\x0a- x"]

    def test_files_of_the_runner_that_cannot_be_written(self) -> None:
        """Are a warning; the report is printed."""
        variables = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "/none/x"}
        ran = review(**variables)
        assert ran.code == 0
        assert "cannot write '/none/x': No such file or directory" in ran.err


class TestInCi:
    """The environment of a CI run; `tests/integrations/test_ci_files.py` has the whole of it."""

    @pytest.fixture
    def server(self) -> Iterator[ForgeServer]:
        """A forge on loopback."""
        with forge() as found:
            yield found

    def run(self, server: ForgeServer, **changes: Any) -> Ran:
        """Review a change in a run for a pull request; None removes a variable."""
        repo = {"full_name": changes.pop("source", "owner/site")}
        base = changes.pop("base", None) or Repository(Path.cwd()).git("rev-parse", "HEAD").strip()
        pull = {"number": 7, "head": {"sha": "f" * 40, "repo": repo}}
        pull["base"] = {"sha": base, "repo": {"full_name": "owner/site"}}
        Path("event.json").write_text(json.dumps({"pull_request": pull, "before": base}))
        variables = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": server.url,
            "GITHUB_REPOSITORY": "owner/site",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": "event.json",
            "GITHUB_OUTPUT": "outputs",
            "GITHUB_STEP_SUMMARY": "summary.md",
            "GITHUB_TOKEN": TOKEN,
        }
        given = {key: value for key, value in (variables | changes).items() if value is not None}
        return robotrules("review", "--comment", **given)

    def test_a_comment(self, server: ForgeServer) -> None:
        Path("robots.txt").write_bytes(RULES + b"Disallow: /more/\n")
        ran = self.run(server)
        assert (ran.code, server.methods) == (0, ["POST"])
        assert "comment created: https://forge.example/1" in ran.err
        assert ran.out.count("::stop-commands::") == 1
        assert Path("summary.md").read_text() in server.comments[0]["body"]
        assert Path("outputs").read_text() == "changed=true\npassed=true\n"
        assert "comment unchanged" in self.run(server).err

    def test_no_change(self, server: ForgeServer) -> None:
        assert "no comment: no robots.txt changed" in self.run(server).err

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"source": "stranger/site"}, "a pull request from a fork has a token that may not"),
            ({"GITHUB_TOKEN": None}, "the variable GITHUB_TOKEN is not set"),
            ({"GITHUB_TOKEN": "wrong"}, "status 401: grant the job 'pull-requests: write'"),
        ],
    )
    def test_no_right_to_comment(
        self, server: ForgeServer, changes: dict[str, Any], words: str
    ) -> None:
        """Is a warning, and an annotation."""
        Path("robots.txt").write_bytes(RULES + b"Disallow: /more/\n")
        ran = self.run(server, GH_TOKEN=None, **changes)
        assert (ran.code, server.comments) == (0, [])
        assert words in ran.err
        assert "::warning title=robotrules review::no comment" in ran.out

    def test_a_push(self, server: ForgeServer) -> None:
        """No comment; after a forced push nothing to compare with."""
        Path("robots.txt").write_bytes(RULES + b"Disallow: /more/\n")
        ran = self.run(server, GITHUB_EVENT_NAME="push")
        assert "no comment: this is not a run for a pull request" in ran.err
        assert "allowed → **disallowed**" in ran.out
        ran = self.run(server, GITHUB_EVENT_NAME="push", base="e" * 40)
        assert (ran.code, server.calls) == (0, [])
        assert "no diff: the base commit eeeeeeeeee is not in this clone" in ran.err
        ran = self.run(server, GITHUB_EVENT_NAME="push", base="0" * 40)
        assert "there is nothing to compare with in this run" in ran.err

    def test_errors(self, server: ForgeServer) -> None:
        """A base that is missing, and an event with secrets."""
        ran = self.run(server, base="e" * 40)
        assert (ran.code, ran.out) == (2, "")
        assert "set fetch-depth: 2" in ran.err
        ran = self.run(server, GITHUB_EVENT_NAME="pull_request_target")
        assert (ran.code, ran.out) == (2, "")
        assert "use pull_request" in ran.err


class TestMisuse:
    """One line, exit 2."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--checks", "lint,dif"], "there is no 'dif': use lint, fmt, test, diff"),
            (["--checks", ","], "--checks is empty"),
            (["-"], "'-' is not a file of a repository"),
            (["https://example.com/"], "is not a file of a repository"),
            (["--base", "none"], "git knows no revision 'none'"),
            (["--base", "--help"], "git knows no revision '--help'"),
            (["--baseline", "none.json"], "there is no baseline 'none.json'"),
            (["--sarif", "robots.txt"], "would overwrite an input file"),
            (["--junit", "none/x"], "cannot write 'none/x'"),
            (["none.txt"], "cannot read robots.txt from 'none.txt'"),
        ],
    )
    def test_arguments(self, arguments: list[str], words: str) -> None:
        ran = review(*arguments)
        assert ran.code == 2
        assert words in ran.err
        assert ran.err.count("\n") == 1

    def test_no_base(self) -> None:
        """On a machine of a person it is asked for."""
        ran = robotrules("review")
        assert (ran.code, ran.out) == (2, "")
        assert "missing --base: pass a branch or commit such as main" in ran.err
        assert robotrules("review", "--checks", "lint").code == 0

    def test_no_repository(
        self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
        ran = review()
        assert ran.code == 2
        assert "is not in a git repository" in ran.err

    def test_an_empty_folder(self) -> None:
        os.mkdir("empty")
        ran = review("empty")
        assert ran.code == 2
        assert "there is no robots.txt or *.robots.txt in 'empty' or below" in ran.err


class TestRendering:
    """What a forge makes of the report."""

    def test_hostile_text_is_text(self) -> None:
        """Rendered, the report has only our elements, and all of the hostile text is readable."""
        renderer = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": True})
        evil = "```</details>|`<script>alert(1)</script>@ann ![x](https://evil.example/)"
        rules = (
            f"User-agent: *\nDisallow: /{evil}\nUser-agent: `` <b>\nSitemap: [a](javascript:1)\n"
        )
        Path("robots.txt").write_text(rules)
        Path("robots.test.toml").write_text(
            f"[[expect]]\ndisallowed = '/cart'\nwhy = '{evil}'\n[[expect]]\nallowed = '/{evil}'\n"
        )
        ran = review("--checks", "lint,fmt,test,diff")
        html = renderer.enable("table").render(ran.out)
        elements = set(re.findall(r"<(/?[a-zA-Z][\w-]*)", html))
        ours = "h2 h3 h4 h5 table thead tbody tr th td p code pre strong ul li details summary em"
        assert {name.removeprefix("/") for name in elements} <= set(ours.split())
        assert html.count("<details") == html.count("</details>") == ran.out.count("<summary>")
        assert unescape(html).count(evil) >= 3
