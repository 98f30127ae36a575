"""`robotrules blame` and `diff --git`, run in this process on real repositories."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from robotrules.access import Response
from robotrules.cli import blame as command
from robotrules.client.stores import SQLiteStore
from robotrules.json_results.schemas import load_schema
from tests.cli.schema import objects, problems
from tests.cli.shell import COMMAND, Ran, as_process, robotrules
from tests.client.histories import SITE, History, file, refused, rules
from tests.operations.repositories import Repository

SCHEMA = load_schema("blame")
AS = ["--as", "AnyBot"]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a repository in the working directory: /a is blocked, then open, then blocked."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.chdir(folder)
    repository = Repository(folder)
    for path in ("/a", "/b", "/a"):
        repository.commit(f"block {path}", robots_txt=rules(path))
    return repository


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Return a store with fetches of two files, and a failure between them."""
    path = tmp_path / "evidence.sqlite"
    history = History(SQLiteStore(path))
    history.record_fetch(0, file("/b"))
    history.record_fetch(1, refused())
    history.record_fetch(2, file("/a"))
    history.store.close()
    return str(path)


def blame(*arguments: str, **options: Any) -> Ran:
    """Run the command as AnyBot."""
    return robotrules("blame", *AS, *arguments, **options)


def results(*arguments: str) -> list[dict[str, Any]]:
    """Return the JSON of a run, which follows the schema."""
    found = [json.loads(line) for line in blame("--json", *arguments).out.splitlines()]
    for value in found:
        assert list(problems(value, SCHEMA)) == []
    return found


class TestResults:
    """What is found, and the exit code."""

    def test_exit_codes(self, repository: Repository) -> None:
        """That of check: is any URL disallowed now?"""
        assert blame("/b").code == 0
        assert blame("/a").code == 1
        assert blame("/b", "/a").code == 1
        assert blame("/a", "--rev", "HEAD~1").code == 0
        assert blame("/a", "--rev", "nowhere").code == 2
        assert blame("/a", "--file", "absent.txt").code == 2

    def test_json(self, repository: Repository) -> None:
        """The schema describes all of it, for commits and for a file that is not committed."""
        [found] = results("/a")
        assert [change["flips"] for change in found["changes"]] == [True] * 3
        assert found["since"] == found["changes"][-1]
        assert found["since"]["commit"]["id"] == repository.git("rev-parse", "HEAD").strip()
        assert found["changes"][0]["before"] is None
        (repository.folder / "robots.txt").write_bytes(rules("/"))
        found, other = results("/a", "/é", "--as", "Googlebot-News")[:2]
        assert found["changes"][-1]["commit"]["id"] is None
        assert (found["versions"], other["known"]["product_token"]) == (4, "Googlebot-News")

    def test_every_key_of_the_schema_is_closed(self) -> None:
        """No object may have other keys, and each has a description."""
        for described in objects(SCHEMA):
            assert described["additionalProperties"] is False
            assert set(described["required"]) == set(described["properties"])

    def test_fetched(self, store: str) -> None:
        """The fetch that saw it first, and the one before."""
        [found] = results(f"{SITE}/a", "--fetched", "--store", store)
        assert found["since"]["commit"] is None
        assert found["since"]["at"] == "2026-05-03T00:00:00.000+00:00"
        assert found["since"]["changed_after"] == "2026-05-02T00:00:00.000+00:00"
        ran = blame(f"{SITE}/a", f"{SITE}/b", "--fetched", "--store", store)
        assert "changed  after the fetch of 2026-05-02 00:00 UTC" in ran.out
        assert "first seen 2026-05-01 00:00 UTC (the first fetch)" not in ran.out
        assert ran.code == 1

    def test_rules_that_are_not_known(self, tmp_path: Path) -> None:
        """A store that never reached the server: there is no verdict to blame."""
        path = tmp_path / "failed.sqlite"
        history = History(SQLiteStore(path))
        history.record_fetch(0, refused())
        history.store.close()
        ran = blame(f"{SITE}/a", "--fetched", "--store", str(path))
        assert ran.code == 2
        assert "the rules of no version of https://example.com/robots.txt are known" in ran.err

    def test_many_changes_and_merged_commits(self, repository: Repository) -> None:
        """Lists are cut; --json has all."""
        repository.git("checkout", "-q", "-b", "side")
        for number in range(26):
            repository.commit(f"step {number}", robots_txt=rules("/b" if number % 2 else "/c"))
        repository.git("checkout", "-q", "main")
        repository.git("merge", "-q", "--no-ff", "side", "-m", "Merge")
        assert "and 21 more commits" in blame("/a").out
        for number in range(50):
            repository.commit(f"flip {number}", robots_txt=rules("/b" if number % 2 else "/a"))
        assert "… 33 more changes: --json lists all" in blame("/a").out
        assert len(results("/a")[0]["changes"]) == 54

    def test_a_terminal_gets_colour(self, repository: Repository) -> None:
        """And a bar for long histories only; a pipe gets plain text."""
        ran = blame("/a", terminals=["stdout", "stderr"], FORCE_COLOR="1")
        assert "\x1b[31mdisallowed\x1b[0m" in ran.out
        assert "\x1b" not in blame("/a").out

    def test_limits_of_questions(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each question is asked of each version."""
        monkeypatch.setattr(command, "MOST_QUESTIONS", 3)
        ran = blame("/a", "/b", "--as", "B")
        assert (ran.code, ran.out) == (2, "")
        assert "more than 3 pairs of a URL and a crawler" in ran.err

    def test_only_the_last_versions(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Then the oldest one may not be the one."""
        from robotrules.operations import git_history

        monkeypatch.setattr(git_history, "MOST_VERSIONS", 1)
        ran = blame("/a")
        assert "only the last 1 versions were read" in ran.err
        assert "(the oldest version here)" in ran.out


class TestSources:
    """Where the versions come from, and what is said about them."""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "missing URL: pass a URL"),
            (["/a", "--fetched", "--rev", "main"], "cannot be combined with --file or --rev"),
            (["/a", "--fetched"], "'/a' has no host: with --fetched"),
        ],
    )
    def test_usage_errors(self, arguments: list[str], message: str) -> None:
        """What is missing or does not fit."""
        ran = blame(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err

    def test_an_origin_without_a_fetch(self, store: str) -> None:
        """And what to do."""
        ran = blame("https://example.org/a", "--fetched", "--store", store)
        assert ran.code == 2
        assert "the store has no fetch of https://example.org: fetch it with" in ran.err

    def test_a_fetch_without_a_file(self, tmp_path: Path) -> None:
        """Nothing to compare: the diff shows the lines that are gone."""
        path = tmp_path / "gone.sqlite"
        history = History(SQLiteStore(path))
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, Response(404, []))
        history.record_fetch(2, file("/a"))
        history.store.close()
        ran = blame(f"{SITE}/a", "--fetched", "--store", str(path))
        assert "  +Disallow: /a\n" in ran.out
        assert "  2026-05-02  no file  allowed     there is no robots.txt\n" in ran.out
        assert (
            "  2026-05-01  fetched  disallowed  line 2: Disallow: /a  (the first fetch)" in ran.out
        )

    def test_not_committed(self, repository: Repository) -> None:
        """The file in the folder is the last version, also if only a later rule is new."""
        file = repository.folder / "robots.txt"
        file.write_bytes(rules("/"))
        ran = blame("/a")
        assert "since then\n" in ran.out
        assert "  not committed  disallowed  line 2: Disallow: /\n" in ran.out
        file.write_bytes(b"")
        ran = blame("/a")
        assert "\nnot committed\n  file     changed 20" in ran.out
        assert "+++ robots.txt (in the folder)" in ran.out

    def test_a_range(self, repository: Repository) -> None:
        """It leaves out commits, and says so if the oldest one is shown."""
        assert "--rev leaves out older commits" in blame("/a", "--rev", "HEAD~1..HEAD").err
        assert "leaves out" not in blame("/a", "--rev", "HEAD").err

    def test_a_shallow_clone(self, repository: Repository) -> None:
        """The same."""
        url = f"file://{repository.folder}"
        repository.git("clone", "-q", "--depth", "1", url, "../clone")
        ran = blame("/a", "--file", "../clone/robots.txt")
        assert "the clone is shallow" in ran.err
        assert "(the oldest version here)" in ran.out

    def test_a_policy(self, repository: Repository) -> None:
        """Each version is written as a robots.txt; one that is not valid changes nothing."""
        for policy in (b'keep-out = ["/a"]', b"keep-out = 5", b"\xff", b'welcome = ["/a"]'):
            repository.commit("policy", policy_toml=b"[everyone]\n" + policy + b"\n")
        ran = blame("/a", "--file", "policy.toml")
        assert ran.out.startswith("/a is allowed for AnyBot: line 2: Allow: /a\n")
        assert "2 versions could not be read and count as unchanged" in ran.err

    def test_only_the_mode_changed(self, repository: Repository) -> None:
        """A commit without a change of the content is a version, and no change."""
        (repository.folder / "robots.txt").chmod(0o755)
        repository.commit("executable")
        [found] = results("/a")
        assert (found["versions"], len(found["changes"])) == (4, 3)


class TestHostileInput:
    """Nothing of a repository reaches the terminal as it is, or runs."""

    def test_control_characters(self, repository: Repository) -> None:
        """Of names, subjects, paths and rules."""
        evil = "x\x1b[2J\x07\u202e"
        repository.git("config", "user.name", evil)
        odd = repository.folder / f"robots{evil}.txt"
        odd.write_bytes(b"User-agent: *\nDisallow: /a\x1b[2J\x9b\nDisallow: /a\n" + b"#" * 5000)
        repository.commit(f"{evil}\n\n{evil}")
        odd.write_bytes(b"User-agent: *\nDisallow: /\x1b[2J\n")
        repository.commit(evil)
        for arguments in (["/a"], ["/a\x1b"], ["/a", "--rev", f"HEAD{evil}"]):
            ran = blame(*arguments, "--file", odd.name)
            assert ran.out.replace("\n", "").isprintable()
            assert ran.err.replace("\n", "").isprintable()
        assert max(map(len, ran.out.splitlines()), default=0) < 400

    def test_a_closed_pipe(self, repository: Repository) -> None:
        """The reader went away: no traceback."""
        for number in range(30):
            repository.commit(f"flip {number}", robots_txt=rules("/b" if number % 2 else "/a"))
        shell = f"{shlex.join(COMMAND)} blame /a --as A | head -1"
        ran = subprocess.run(["sh", "-c", shell], capture_output=True, check=True)
        assert ran.stdout.startswith(b"/a is allowed for A: ")
        assert b"Traceback" not in ran.stderr

    def test_as_a_process(self, repository: Repository) -> None:
        """The same in a process of its own, in a folder of the repository."""
        folder = repository.folder / "sub"
        folder.mkdir()
        ran = as_process("blame", "/a", *AS, "--file", "../robots.txt", cwd=folder)
        assert ran.out.startswith("/a is disallowed for AnyBot: line 2: Disallow: /a\n")
        assert ran.err == "robotrules blame: checked all 3 versions of ../robots.txt\n"

    def test_an_unreadable_file(self, repository: Repository) -> None:
        """The commits count, if the file in the folder cannot be read."""
        (repository.folder / "robots.txt").unlink()
        assert blame("/a").code == 1
        (repository.folder / "robots.txt").mkdir()
        assert "is a folder" in blame("/a").err


class TestMistakes:
    """What would answer about something else is refused."""

    @pytest.mark.parametrize("url", ["a/b", "example.com/a", "a"])
    def test_neither_a_url_nor_a_path(self, repository: Repository, url: str) -> None:
        """Without a slash, only a part of it would be checked."""
        ran = blame(url)
        assert (ran.code, ran.out) == (2, "")
        assert f"'{url}' has no scheme and does not start with '/': pass a URL" in ran.err

    def test_beside_the_repository(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The message names the option for the file."""
        monkeypatch.chdir(repository.folder.parent)
        assert "--file shop/public/robots.txt" in blame("/a").err
        assert blame("/a", "--file", "site/robots.txt").code == 1

    def test_an_empty_revision(self, repository: Repository) -> None:
        """It is not the default."""
        assert "the revision is empty" in blame("/a", "--rev", "").err

    def test_the_message_of_the_commit(self, repository: Repository) -> None:
        """It says why; control characters are escaped, and addresses are left out."""
        lines = "\n".join(f"line {number}" for number in range(1, 12))
        why = f"block\n\nAsked by support.\x1b[2J\n\n{lines}\nSigned-off-by: Ann <ann@example.com>"
        repository.commit(why, robots_txt=rules("/c"))
        out = blame("/c").out
        assert "  subject  block\n           Asked by support.\\x1b[2J\n           line 1\n" in out
        assert "line 7\n           … 4 more lines\n" in out
        assert "ann@example.com" not in out


class TestDiffOfRevisions:
    """`diff --git`."""

    def test_with_the_file_in_the_folder(self, repository: Repository) -> None:
        """One revision is compared with the file, two with each other."""
        assert robotrules("diff", "--git", "HEAD").code == 0
        assert robotrules("diff", "--git", "HEAD~1").code == 1
        (repository.folder / "robots.txt").write_bytes(rules("/b"))
        assert robotrules("diff", "--git", "HEAD~1").code == 0
        assert robotrules("diff", "--git", "HEAD~2..HEAD").code == 0
        assert robotrules("diff", "--git", "HEAD~1..", "robots.txt").code == 1
        assert robotrules("diff", "--git", "..HEAD~1").code == 1

    def test_names(self, repository: Repository) -> None:
        """As git names a file of a revision."""
        ran = robotrules("diff", "--git", "HEAD~1..main", "--json")
        values = json.loads(ran.out)
        assert (values["old"], values["new"]) == ("HEAD~1:robots.txt", "main:robots.txt")
        values = json.loads(robotrules("diff", "--git", "main", "--json").out)
        assert (values["old"], values["new"]) == ("main:robots.txt", "robots.txt")
        assert "`main:robots.txt` → `robots.txt`" in robotrules(
            "diff", "--git", "main", "--markdown"
        ).out.replace("identical", "")

    def test_the_compared_versions_are_named(self, repository: Repository) -> None:
        """With their commits and days; a date is compared as the commit before it."""
        first, second = (repository.git("rev-parse", f"HEAD~{back}")[:10] for back in (2, 1))
        ran = robotrules("diff", "--git", "2023-11-16..HEAD~1")
        assert ran.out.splitlines()[0] == (
            f"Compared: robots.txt of commit {first} (2023-11-16, 2023-11-15) → "
            f"robots.txt of commit {second} (HEAD~1, 2023-11-16)"
        )
        ran = robotrules("diff", "--git", first)
        assert ran.out.splitlines()[0] == (
            f"Compared: robots.txt of commit {first} (2023-11-15) → robots.txt in the folder"
        )
        values = json.loads(robotrules("diff", "--git", "2023-11-16", "--json").out)
        assert values["old"] == f"{first}:robots.txt"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["nowhere"], "git knows no revision 'nowhere'"),
            (["a...b"], "two dots are needed"),
            (["HEAD", "a", "b"], "--git compares versions of one file"),
            (["HEAD", "-"], "--git needs a robots.txt in a repository, and '-' is not one"),
            (["HEAD", SITE], "is not one"),
            (["HEAD", "policy.toml"], "is not one"),
            (["HEAD", "absent.txt"], "'absent.txt' is not in HEAD"),
            ([""], "--git '': pass a branch, a tag, a commit, or a date such as"),
            ([".."], "--git '..': pass a branch"),
            (["main@{2020-01-01}"], "pass the date alone, such as 2026-08-01"),
            (["HEAD\x1b"], r"git knows no revision 'HEAD\x1b'"),
        ],
    )
    def test_misuse(self, repository: Repository, arguments: list[str], message: str) -> None:
        """What cannot be compared, and how to fix it."""
        ran = robotrules("diff", "--git", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err

    def test_an_unused_option(self, repository: Repository) -> None:
        """Nothing is fetched."""
        ran = robotrules("diff", "--git", "HEAD", "--timeout", "5")
        assert "--timeout has no effect" in ran.err
