"""Pull requests: what a CI server says is validated, and one comment is kept up to date."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from robotrules.operations.git_history import GitError
from robotrules.operations.pull_requests import changed_files as changes_module
from robotrules.operations.pull_requests.changed_files import (
    changed_files,
    repository_root,
    resolve_base,
    start_of_change,
)
from robotrules.operations.pull_requests.ci_environment import CiEnvironment, read_environment
from robotrules.operations.pull_requests.comments import CommentError, publish_comment
from tests.operations.forge_server import TOKEN, ForgeServer, forge
from tests.operations.repositories import Repository

MARKER = "<!-- robotrules review -->"
COMMIT, OTHER = "a" * 40, "b" * 40


def pull_request(**changes: Any) -> dict[str, Any]:
    """Return the event of a pull request."""
    repository = {"full_name": "owner/site"}
    pull = {
        "number": 7,
        "head": {"sha": COMMIT, "repo": repository},
        "base": {"sha": OTHER, "repo": repository},
    }
    return {"pull_request": pull | changes}


def github(folder: Path, event: object, name: str = "pull_request") -> CiEnvironment:
    """Return the environment of a run on GitHub."""
    path = folder / "event.json"
    path.write_text(event if isinstance(event, str) else json.dumps(event))
    variables = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name}
    return read_environment(
        {**variables, "GITHUB_EVENT_PATH": str(path), "GITHUB_REPOSITORY": "owner/site"}
    )


class TestEnvironment:
    """The variables of GitHub Actions and GitLab CI."""

    def test_a_pull_request(self, tmp_path: Path) -> None:
        found = github(tmp_path, pull_request())
        assert (found.number, found.base, found.head) == (7, OTHER, COMMIT)
        assert (found.repository, found.is_fork, found.has_secrets) == ("owner/site", False, False)
        assert found.api == "https://api.github.com"

    def test_a_push(self, tmp_path: Path) -> None:
        """It is compared with the commit before; a new branch has none."""
        found = github(tmp_path, {"before": COMMIT}, "push")
        assert (found.number, found.base) == (None, COMMIT)
        assert github(tmp_path, {"before": "0" * 40}, "push").base is None

    @pytest.mark.parametrize("repo", [{"full_name": "stranger/site"}, None, {}])
    def test_a_fork(self, tmp_path: Path, repo: object) -> None:
        """A repository that is another, or was deleted."""
        assert github(tmp_path, pull_request(head={"sha": COMMIT, "repo": repo})).is_fork

    def test_an_event_with_secrets(self, tmp_path: Path) -> None:
        """`pull_request_target` is not a pull request here."""
        found = github(tmp_path, pull_request(), "pull_request_target")
        assert (found.number, found.has_secrets) == (None, True)

    @pytest.mark.parametrize(
        "event",
        [
            "",
            "[" * 100_000,
            "[]",
            {},
            {"pull_request": 1},
            pull_request(number="7; rm"),
            pull_request(number=True),
            pull_request(number=-1),
        ],
    )
    def test_a_hostile_event(self, tmp_path: Path, event: object) -> None:
        """What is not valid is missing."""
        assert github(tmp_path, event).number is None

    @pytest.mark.parametrize("commit", ["--upload-pack=x", "main", "A" * 40, "a" * 41, 1, None])
    def test_a_commit_is_hexadecimal(self, tmp_path: Path, commit: object) -> None:
        """A name that git could take for an option never gets there."""
        found = github(tmp_path, pull_request(base={"sha": commit}, head={"sha": commit}))
        assert (found.base, found.head) == (None, None)

    def test_values_of_urls(self) -> None:
        """A repository that is not `owner/name`, and an API that is not on the web."""
        variables = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "a/b/../../user"}
        assert read_environment(variables).repository == ""
        variables["GITHUB_API_URL"] = "file:///etc/passwd"
        assert read_environment(variables).api == "https://api.github.com"
        variables["GITHUB_API_URL"] = "https://ghe.example/api/v3/"
        assert read_environment(variables).api == "https://ghe.example/api/v3"

    def test_gitlab(self) -> None:
        """A merge request, from the project or a fork; and a push."""
        variables = {
            "GITLAB_CI": "true",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": OTHER,
            "CI_COMMIT_SHA": COMMIT,
            "CI_API_V4_URL": "https://gitlab.example/api/v4",
        }
        found = read_environment(variables)
        assert (found.number, found.repository, found.base, found.is_fork) == (
            *(7, "42", OTHER),
            False,
        )
        assert read_environment(variables | {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "43"}).is_fork
        assert read_environment(variables | {"CI_MERGE_REQUEST_IID": "x"}).number is None
        push = {"GITLAB_CI": "true", "CI_PROJECT_ID": "4", "CI_COMMIT_BEFORE_SHA": OTHER}
        assert read_environment(push)[:3] == ("gitlab", None, OTHER)

    def test_elsewhere(self) -> None:
        assert read_environment({}) == CiEnvironment()


class TestChangedFiles:
    """What differs from the base, with both contents."""

    @pytest.fixture
    def repository(self, tmp_path: Path) -> Repository:
        """A repository with two commits."""
        made = Repository(tmp_path)
        made.commit("first", robots_txt=b"1\n", old_txt=b"User-agent: *\n" * 9, gone_txt=b"x\n")
        made.commit("other", notes_txt=b"n\n")
        return made

    def changes(self, repository: Repository, base: str) -> dict[str, tuple[Any, ...]]:
        """Return all changes by name."""
        found, more = changed_files(repository.folder, base, lambda _: True)
        assert more == 0
        return {one.path: (one.status, one.old, one.new, one.old_path) for one in found}

    def test_statuses(self, repository: Repository) -> None:
        """Added, modified, deleted, renamed; committed or not."""
        base = repository.commit("base")
        (repository.folder / "old.txt").rename(repository.folder / "new.txt")
        repository.commit("second", gone_txt=None, added_txt=b"+\n")
        (repository.folder / "robots.txt").write_bytes(b"2\n")
        old = b"User-agent: *\n" * 9
        assert self.changes(repository, base) == {
            "added.txt": ("added", None, b"+\n", "added.txt"),
            "gone.txt": ("deleted", b"x\n", None, "gone.txt"),
            "new.txt": ("renamed", old, old, "old.txt"),
            "robots.txt": ("modified", b"1\n", b"2\n", "robots.txt"),
        }

    @pytest.mark.parametrize("name", ["a b", "'\"", "$(touch x)`id`", "x\n::error::y", "é", "-x"])
    def test_odd_names(self, repository: Repository, name: str) -> None:
        """Names are values."""
        base = repository.commit("base")
        (repository.folder / name).write_bytes(b"odd\n")
        repository.commit("odd")
        assert self.changes(repository, base) == {name: ("added", None, b"odd\n", name)}
        assert not (repository.folder / "x").exists()

    def test_links_and_pipes_have_no_content(self, repository: Repository) -> None:
        """A link could name any file of the machine, a pipe would never end."""
        base = repository.commit("base")
        (repository.folder / "robots.txt").unlink()
        (repository.folder / "robots.txt").symlink_to("/etc/passwd")
        repository.commit("link")
        [one] = changed_files(repository.folder, base, lambda _: True)[0]
        assert (one.new, one.is_link) == (None, True)
        (repository.folder / "robots.txt").unlink()
        os.mkfifo(repository.folder / "robots.txt")
        [one] = changed_files(repository.folder, base, lambda _: True)[0]
        assert one.new is None

    def test_settings_of_the_repository_run_nothing(self, repository: Repository) -> None:
        """A filter is a program; git would run it to compare a file that may have changed."""
        folder = repository.folder
        (folder / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
        base = repository.commit("base")
        for key in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.command"):
            repository.git("config", key, f"touch {folder}/ran; cat")
        for key in ("diff.external", "core.fsmonitor", "diff.evil.textconv"):
            repository.git("config", key, f"touch {folder}/ran; cat")
        (folder / "robots.txt").write_bytes(b"2\n")
        found, _ = changed_files(folder, base, lambda _: True)
        assert [(one.path, one.old, one.new) for one in found] == [("robots.txt", b"1\n", b"2\n")]
        assert not (folder / "ran").exists()

    def test_only_tracked_files(self, repository: Repository) -> None:
        """What git does not track is not read; a file that it tracks no more is deleted."""
        base = repository.commit("base")
        (repository.folder / "new.txt").write_bytes(b"+\n")
        (repository.folder / "robots.txt").chmod(0o755)
        assert self.changes(repository, base) == {}
        repository.git("rm", "-q", "--cached", "robots.txt")
        repository.git("add", "--intent-to-add", "new.txt")
        assert self.changes(repository, base) == {
            "new.txt": ("added", None, b"+\n", "new.txt"),
            "robots.txt": ("deleted", b"1\n", None, "robots.txt"),
        }

    def test_line_ends_that_git_wrote(self, repository: Repository) -> None:
        """Are not a change; other changes of the same file are."""
        base = repository.commit("base", robots_txt=b"1\n2\n")
        (repository.folder / "robots.txt").write_bytes(b"1\r\n2\r\n")
        assert self.changes(repository, base) == {}
        (repository.folder / "robots.txt").write_bytes(b"1\r\n3\r\n")
        assert self.changes(repository, base)["robots.txt"][2] == b"1\r\n3\r\n"

    def test_renamed_and_changed(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Half of the content has to be the same; empty files are not renamed."""
        base = repository.commit("base", empty_txt=b"")
        for old, new, octets in (
            ("old.txt", "new.txt", b"User-agent: *\n" * 6 + b"x\n"),
            ("gone.txt", "other.txt", b"y\n"),
            ("empty.txt", "void.txt", b""),
        ):
            (repository.folder / old).unlink()
            (repository.folder / new).write_bytes(octets)
        repository.git("add", "-A")
        found = {path: one[0] for path, one in self.changes(repository, base).items()}
        pairs = {"other.txt": "added", "gone.txt": "deleted"}
        pairs |= {"void.txt": "added", "empty.txt": "deleted"}
        assert found == {"new.txt": "renamed", **pairs}
        monkeypatch.setattr(changes_module, "MOST_COMPARISONS", 0)
        assert self.changes(repository, base)["new.txt"][0] == "added"

    def test_a_folder_that_became_a_link(
        self, repository: Repository, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """Its files are gone: where it leads is not read."""
        inner = repository.folder / "inner"
        inner.mkdir()
        (inner / "robots.txt").write_bytes(b"1\n")
        base = repository.commit("base")
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        (inner / "robots.txt").rename(elsewhere / "robots.txt")
        (elsewhere / "robots.txt").write_bytes(b"secret\n")
        inner.rmdir()
        inner.symlink_to(elsewhere)
        status = ("deleted", b"1\n", None, "inner/robots.txt")
        assert self.changes(repository, base) == {"inner/robots.txt": status}

    def test_links_that_did_not_change(self, repository: Repository) -> None:
        """Are not reported; another target is."""
        link = repository.folder / "link.txt"
        link.symlink_to("robots.txt")
        base = repository.commit("base")
        assert self.changes(repository, base) == {}
        link.unlink()
        link.symlink_to("old.txt")
        assert self.changes(repository, base)["link.txt"][:3] == ("modified", None, None)

    def test_a_sparse_checkout(self, repository: Repository) -> None:
        """A file that it leaves out is that of the index."""
        base = repository.commit("base")
        repository.commit("second", robots_txt=b"2\n")
        repository.git("update-index", "--skip-worktree", "robots.txt", "old.txt")
        (repository.folder / "robots.txt").unlink()
        (repository.folder / "old.txt").unlink()
        status = ("modified", b"1\n", b"2\n", "robots.txt")
        assert self.changes(repository, base) == {"robots.txt": status}

    def test_large_and_unreadable_files(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The start of a large one is compared; one that cannot be read is an error."""
        base = repository.commit("base")
        monkeypatch.setattr(changes_module, "LARGEST_BLOB", 10)
        monkeypatch.setattr(changes_module, "LARGEST_FILE", 4)
        (repository.folder / "robots.txt").write_bytes(b"x" * 11)
        assert self.changes(repository, base)["robots.txt"][2] == b"xxxx"
        real_open = os.open

        def refuse(path: Any, *flags: Any, **how: Any) -> int:
            """Open all but one file."""
            if Path(path).name == "gone.txt":
                raise PermissionError(13, "Permission denied")
            return real_open(path, *flags, **how)

        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(GitError, match=r"cannot read 'gone\.txt': Permission denied"):
            self.changes(repository, base)

    def test_limit(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is beyond it is counted."""
        monkeypatch.setattr(changes_module, "MOST_FILES", 1)
        base = repository.commit("base")
        repository.commit("more", a_txt=b"", b_txt=b"", c_txt=b"")
        found, more = changed_files(repository.folder, base, lambda name: name != "b.txt")
        assert ([one.path for one in found], more) == (["a.txt"], 1)

    def test_the_base_of_a_branch(self, repository: Repository) -> None:
        """Is where it left the target: changes of others are not its own."""
        left = repository.commit("base")
        repository.git("checkout", "-q", "-b", "change")
        repository.commit("change", robots_txt=b"2\n")
        repository.git("checkout", "-q", "main")
        repository.commit("others", other_txt=b"o\n")
        repository.git("checkout", "-q", "change")
        assert start_of_change(repository.folder, "main") == left
        with pytest.raises(GitError, match="git knows no revision '--help'"):
            start_of_change(repository.folder, "--help")

    def test_the_base_of_a_merge_in_a_shallow_clone(
        self, repository: Repository, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """Is its first parent, which is fetched if the clone does not have it."""
        stale = repository.commit("base")
        repository.git("checkout", "-q", "-b", "change")
        head = repository.commit("change", robots_txt=b"2\n")
        repository.git("checkout", "-q", "main")
        target = repository.commit("others", robots_txt=b"1\n", other_txt=b"o\n")
        repository.git("merge", "-q", "--no-ff", "change")
        repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
        given = CiEnvironment("github", 7, stale, head)
        for depth in ("1", "2"):
            clone = tmp_path_factory.mktemp("clone")
            git = ["git", "clone", "-q", "--depth", depth, f"file://{repository.folder}", clone]
            subprocess.run(git, check=True)
            assert resolve_base(clone, given) == target
            found, _ = changed_files(clone, target, lambda _: True)
            assert [one.path for one in found] == ["robots.txt"]

    def test_a_base_that_cannot_be_fetched(self, repository: Repository) -> None:
        """The error says how to have it."""
        with pytest.raises(GitError, match="set fetch-depth: 2 for actions/checkout"):
            resolve_base(repository.folder, CiEnvironment("github", None, COMMIT))
        assert resolve_base(repository.folder, CiEnvironment("github")) is None

    def test_the_top_folder(self, repository: Repository, tmp_path: Path) -> None:
        inner = tmp_path / "inner"
        inner.mkdir()
        assert repository_root(inner) == tmp_path.resolve()


@pytest.fixture(params=["github", "gitlab"])
def server(request: pytest.FixtureRequest) -> Any:
    """Both kinds of forges."""
    with forge(request.param) as found:
        yield found


def publish(server: ForgeServer, body: str, token: str = TOKEN, *, create: bool = True) -> str:
    """Publish a comment; return what was done."""
    repository = {"github": "owner/site", "gitlab": "42"}[server.kind]
    given = CiEnvironment(server.kind, 7, repository=repository, api=server.url)
    return publish_comment(given, token, MARKER, body, create=create).action


class TestComments:
    """One comment, updated by the next push."""

    def test_one_comment(self, server: ForgeServer) -> None:
        """Created, left alone, updated."""
        server.add("hello", "somebody", "User")
        assert publish(server, "first") == "created"
        assert publish(server, "first") == "unchanged"
        assert publish(server, "second\n") == "updated"
        assert [one["body"] for one in server.comments] == ["hello", f"{MARKER}\nsecond\n"]
        assert len(server.methods) == 2

    def test_only_an_update(self, server: ForgeServer) -> None:
        """Without *create* there is no first comment."""
        assert publish(server, "x", create=False) == "none"
        assert server.methods == []
        publish(server, "x")
        assert publish(server, "y", create=False) == "updated"

    def test_a_comment_of_another_account_with_the_marker(self, server: ForgeServer) -> None:
        """Is not ours: its author could change it again."""
        server.add(f"{MARKER}\ntrust me", "stranger", "User")
        assert publish(server, "first") == "created"
        assert server.comments[0]["body"].endswith("trust me")

    def test_line_ends_do_not_matter(self, server: ForgeServer) -> None:
        publish(server, "a\nb\n")
        server.comments[0]["body"] = server.comments[0]["body"].replace("\n", "\r\n").rstrip()
        assert publish(server, "a\nb\n") == "unchanged"

    def test_many_comments(self, server: ForgeServer) -> None:
        """All pages are read."""
        for number in range(250):
            server.add(f"comment {number}", "somebody", "User")
        publish(server, "first")
        assert publish(server, "second") == "updated"

    @pytest.mark.parametrize("own", [None, "our-app[bot]"])
    def test_a_comment_of_another_app_with_the_marker(self, own: str | None) -> None:
        """Is not ours, although the token of an app may not ask for its user."""
        with forge() as server:
            server.app = own
            server.add(f"{MARKER}\nforged", "somebot[bot]")
            if own is not None:
                server.add(f"{MARKER}\nforged", "github-actions[bot]")
            others = len(server.comments)
            assert publish(server, "first") == "created"
            assert publish(server, "second") == "updated"
            assert [one["body"] for one in server.comments[:others]] == [
                f"{MARKER}\nforged"
            ] * others
            assert server.comments[-1]["body"] == f"{MARKER}\nsecond"

    def test_the_account_of_a_token(self, server: ForgeServer) -> None:
        """If the token may ask who it is, its own comment is updated."""
        server.login = "machine-user"
        server.add(f"{MARKER}\nbot", "other[bot]")
        publish(server, "first")
        publish(server, "second")
        assert [one["body"] for one in server.comments] == [f"{MARKER}\nbot", f"{MARKER}\nsecond"]

    @pytest.mark.parametrize(
        ("method", "status", "words"),
        [
            ("GET", 403, "GET answered with status 403: "),
            ("POST", 403, "POST answered with status 403: "),
            ("POST", 500, "POST answered with status 500"),
        ],
    )
    def test_refusals(self, server: ForgeServer, method: str, status: int, words: str) -> None:
        """Say what to grant."""
        server.refused = {method: status}
        with pytest.raises(CommentError) as caught:
            publish(server, "x")
        assert str(caught.value).startswith(words)
        assert ("pull-requests: write" in str(caught.value) or server.kind == "gitlab") or (
            status == 500
        )

    def test_a_wrong_token(self, server: ForgeServer) -> None:
        with pytest.raises(CommentError, match="status 401"):
            publish(server, "x", "wrong")

    def test_redirects_do_not_get_the_token(self, server: ForgeServer) -> None:
        """They are errors."""
        with forge() as thief:
            server.location = thief.url
            with pytest.raises(CommentError, match="status 307"):
                publish(server, "x")
            assert thief.calls == []

    @pytest.mark.parametrize(
        ("raw", "words"),
        [
            (b"<html>", "answered with no JSON"),
            (b"[" * 100_000, "answered with no JSON"),
            (b"{}", "answered with no list"),
            (b"[1]", "answered with no object"),
        ],
    )
    def test_answers_that_are_not_the_api(
        self, server: ForgeServer, raw: bytes, words: str
    ) -> None:
        server.raw = raw
        with pytest.raises(CommentError, match=words):
            publish(server, "x")

    def test_comments_with_other_shapes(self, server: ForgeServer) -> None:
        """They are skipped; a comment of ours without a number is an error."""
        key = "user" if server.kind == "github" else "author"
        server.comments = [{"body": None}, {"body": MARKER}, {"body": MARKER, key: "x"}]
        server.login = "me"
        server.comments.append({"body": MARKER, key: {"login": "me", "username": "me"}})
        with pytest.raises(CommentError, match="without a number"):
            publish(server, "x")

    def test_a_server_that_does_not_answer(self) -> None:
        given = CiEnvironment("github", 7, repository="a/b", api="http://127.0.0.1:9")
        with pytest.raises(CommentError, match="did not answer"):
            publish_comment(given, TOKEN, MARKER, "x", create=True)
        with pytest.raises(CommentError, match="did not answer"):
            publish_comment(given._replace(api="http://[x"), TOKEN, MARKER, "x", create=True)
