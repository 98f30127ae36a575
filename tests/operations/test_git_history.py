"""The history of a file is what git has of it: renames, deletions, odd names, bare failures."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from robotrules.operations.git_history import GitError, file_at, file_versions


class Repository:
    """A repository whose commits are a day apart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.days = 0
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        """Run git with fixed names and times."""
        when = f"{1_700_000_000 + 86_400 * self.days} +0000"
        fixed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        for who in ("AUTHOR", "COMMITTER"):
            fixed |= {f"GIT_{who}_NAME": "Ann Example", f"GIT_{who}_EMAIL": "ann@example.com"}
            fixed[f"GIT_{who}_DATE"] = when
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=os.environ | fixed,
            capture_output=True,
            check=True,
        )
        return ran.stdout.decode()

    def commit(self, subject: str, **files: bytes | None) -> str:
        """Commit files, by name with `_` for a dot; None deletes."""
        for name, octets in files.items():
            path = self.folder / name.replace("_", ".")
            path.unlink(missing_ok=True) if octets is None else path.write_bytes(octets)
        self.days += 1
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return an empty repository."""
    return Repository(tmp_path)


def test_versions_in_order(repository: Repository) -> None:
    """Each commit that changed the file, the oldest first, with its content and its time."""
    first = repository.commit("add rules", robots_txt=b"User-agent: *\n")
    repository.commit("another file", other_txt=b"x")
    second = repository.commit("block all \x1b[31m", robots_txt=b"User-agent: *\nDisallow: /\n")
    found = file_versions(repository.folder / "robots.txt")
    assert [one.commit for one in found] == [first, second]
    assert found[1].octets == b"User-agent: *\nDisallow: /\n"
    assert found[1].at - found[0].at == 2 * 86_400
    assert (found[0].author, found[0].subject) == ("Ann Example", "add rules")
    assert found[0].short == first[:10]


def test_renames_and_deletions(repository: Repository) -> None:
    """A deletion has no content; git follows a rename only as long as the file exists."""
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    repository.commit("old name", old_txt=body)
    repository.commit("rename", old_txt=None, robots_txt=body)
    repository.commit("delete", robots_txt=None)
    repository.commit("again", robots_txt=b"")
    found = file_versions(repository.folder / "robots.txt")
    assert [one.octets for one in found][-2:] == [None, b""]
    repository.commit("change", robots_txt=b"a\n")
    assert file_versions(repository.folder / "robots.txt")[-1].octets == b"a\n"


def test_a_rename_is_followed(repository: Repository) -> None:
    """The versions before a rename have the old name."""
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    repository.commit("old name", old_txt=body)
    repository.commit("rename", old_txt=None, robots_txt=body)
    found = file_versions(repository.folder / "robots.txt")
    assert [(one.path, one.octets) for one in found] == [("old.txt", body), ("robots.txt", body)]


def test_a_symbolic_link_has_no_content(repository: Repository) -> None:
    """The content of a link is a name, and no robots.txt."""
    (repository.folder / "robots.txt").symlink_to("elsewhere")
    repository.commit("link")
    assert [one.octets for one in file_versions(repository.folder / "robots.txt")] == [None]


def test_one_revision(repository: Repository) -> None:
    """A branch, a tag or a commit; an unknown one is refused with the cure."""
    first = repository.commit("one", robots_txt=b"1\n")
    repository.commit("two", robots_txt=b"2\n")
    file = repository.folder / "robots.txt"
    assert file_at(file, first) == b"1\n"
    assert file_at(file, "main~1") == b"1\n"
    assert file_at(file, "HEAD") == b"2\n"
    with pytest.raises(GitError, match="no revision 'nowhere': pass a branch"):
        file_at(file, "nowhere")
    with pytest.raises(GitError, match="no revision '--output=x'"):
        file_at(file, "--output=x")
    with pytest.raises(GitError, match="is not in HEAD"):
        file_at(repository.folder / "absent.txt", "HEAD")
    with pytest.raises(GitError, match="knows no version"):
        file_versions(repository.folder / "absent.txt")


def test_settings_of_a_repository_start_nothing(repository: Repository) -> None:
    """A repository that was downloaded cannot run programs."""
    repository.commit("one", robots_txt=b"1\n")
    touched = repository.folder / "touched"
    for key in ("core.fsmonitor", "diff.external", "diff.x.textconv", "core.pager"):
        repository.git("config", key, f"touch {touched}")
    (repository.folder / ".gitattributes").write_text("*.txt diff=x filter=x\n")
    assert file_versions(repository.folder / "robots.txt")
    assert file_at(repository.folder / "robots.txt", "HEAD") == b"1\n"
    assert not touched.exists()


def test_failures_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No repository, no folder, no git."""
    with pytest.raises(GitError, match="is not in a git repository"):
        file_versions(tmp_path / "robots.txt")
    with pytest.raises(GitError, match="is not a folder"):
        file_versions(tmp_path / "nowhere" / "robots.txt")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not installed"):
        file_versions(tmp_path / "robots.txt")
