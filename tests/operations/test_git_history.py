"""The history of a file is what git has of it: renames, deletions, odd names, bare failures."""

from __future__ import annotations

from pathlib import Path

import pytest

from robotrules.operations import git_history
from robotrules.operations.git_history import (
    GitError,
    file_at,
    file_versions,
    find_revision,
    is_shallow,
    merged_commits,
)
from tests.operations.repositories import Repository


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


class TestDates:
    """Dates are those of the main line; the first commit is of 2023-11-15, 22:13 UTC."""

    @pytest.mark.parametrize(
        ("date", "number"),
        [
            ("2023-11-16", 0),
            ("2023-11-17", 1),
            ("2023-11-16T22:13:19", 0),
            ("2023-11-16 22:13:21", 1),
            ("2023-11-17T00:13:21+02:00", 1),
            ("yesterday", 2),
            ("3 weeks ago", 2),
            ("1.month.ago", 2),
        ],
    )
    def test_the_last_commit_before(self, repository: Repository, date: str, number: int) -> None:
        """A day starts at 00:00 UTC."""
        commits = [repository.commit(f"{i}", robots_txt=b"%d\n" % i) for i in range(3)]
        file = repository.folder / "robots.txt"
        found = find_revision(file, date)
        assert (found.commit, found.is_date) == (commits[number], True)
        assert file_at(file, date) == b"%d\n" % number
        assert file_versions(file, date)[-1].commit == commits[number]

    def test_a_range_of_dates(self, repository: Repository) -> None:
        """Each end may be a date, or missing."""
        commits = [repository.commit(f"{i}", robots_txt=b"%d\n" % i) for i in range(3)]
        file = repository.folder / "robots.txt"
        for revisions in ("2023-11-16..2023-11-20", "2023-11-16..", "2023-11-16..main"):
            assert [one.commit for one in file_versions(file, revisions)] == commits[1:]

    def test_a_revision_of_that_name_wins(self, repository: Repository) -> None:
        """As in git."""
        first = repository.commit("1", robots_txt=b"1\n")
        repository.git("tag", "2026-01-01")
        repository.commit("2", robots_txt=b"2\n")
        found = find_revision(repository.folder / "robots.txt", "2026-01-01")
        assert (found.commit, found.is_date) == (first, False)

    @pytest.mark.parametrize("date", ["2026-13-01", "2026-01-01 soon", "last tuesday", "now"])
    def test_what_is_no_date(self, repository: Repository, date: str) -> None:
        """Git would take any text for a date, and a misspelt branch for today."""
        repository.commit("1", robots_txt=b"1\n")
        for read in (file_at, file_versions):
            with pytest.raises(GitError, match=r"git knows no revision|ambiguous"):
                read(repository.folder / "robots.txt", date)

    def test_before_the_first_commit(self, repository: Repository, tmp_path: Path) -> None:
        """The oldest commit is not a substitute, least of all in a shallow clone."""
        repository.commit("1", robots_txt=b"1\n")
        repository.commit("2", robots_txt=b"2\n")
        with pytest.raises(GitError, match="no commit before 2023-11-15: pass a later date"):
            file_at(repository.folder / "robots.txt", "2023-11-15")
        clone = tmp_path / "clone"
        repository.git("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(clone))
        with pytest.raises(GitError, match="git fetch --unshallow"):
            file_at(clone / "robots.txt", "2023-11-16")

    def test_a_reflog_that_starts_later(self, repository: Repository, tmp_path: Path) -> None:
        """Git only warns, and answers with the commit of the clone."""
        repository.commit("1", robots_txt=b"1\n")
        repository.commit("2", robots_txt=b"2\n")
        clone = tmp_path / "clone"
        repository.git("clone", "-q", str(repository.folder), str(clone))
        for read in (file_at, file_versions):
            for revision in ("main@{2023-11-16}", "HEAD@{7}"):
                with pytest.raises(GitError, match="pass the date alone, such as 2026-08-01"):
                    read(clone / "robots.txt", revision)
        assert file_at(repository.folder / "robots.txt", "main@{0}") == b"2\n"

    @pytest.mark.parametrize("revision", ["", " "])
    def test_an_empty_revision(self, repository: Repository, revision: str) -> None:
        """It is not HEAD."""
        repository.commit("1", robots_txt=b"1\n")
        for read in (file_at, file_versions):
            with pytest.raises(GitError, match="the revision is empty"):
                read(repository.folder / "robots.txt", revision)


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


class TestMainLine:
    """Branches count from their merge on."""

    def merge(self, repository: Repository) -> tuple[str, str, str]:
        """Merge a branch a day after another change; return the three commits."""
        first = repository.commit("first", robots_txt=b"1\n")
        repository.git("checkout", "-q", "-b", "side")
        side = repository.commit("block", robots_txt=b"2\n")
        repository.git("checkout", "-q", "main")
        repository.commit("other", other_txt=b"x")
        repository.days += 1
        repository.git("merge", "-q", "--no-ff", "side", "-m", "Merge side")
        return first, side, repository.git("rev-parse", "HEAD").strip()

    def test_a_merge_is_the_change(self, repository: Repository) -> None:
        """The commit of the branch is not a version: the main line never had it alone."""
        first, side, merge = self.merge(repository)
        found = file_versions(repository.folder / "robots.txt")
        assert [one.commit for one in found] == [first, merge]
        assert found[1].at - found[0].at == 3 * 86_400
        assert len(found[1].parents) == 2
        merged = merged_commits(repository.folder / "robots.txt", found[1])
        assert [(one.commit, one.subject) for one in merged] == [(side, "block")]
        assert merged_commits(repository.folder / "robots.txt", found[0]) == []

    def test_in_a_folder(self, repository: Repository) -> None:
        """Paths of commits are relative to the repository, whatever the folder."""
        (repository.folder / "public").mkdir()
        file = repository.folder / "public" / "robots.txt"
        file.write_bytes(b"1\n")
        repository.commit("first")
        repository.git("checkout", "-q", "-b", "side")
        file.write_bytes(b"2\n")
        repository.commit("block")
        repository.git("checkout", "-q", "main")
        repository.git("merge", "-q", "--no-ff", "side", "-m", "Merge side")
        found = file_versions(file)
        assert found[-1].path == "public/robots.txt"
        assert [one.subject for one in merged_commits(file, found[-1])] == ["block"]
        assert file_at(file, "side") == b"2\n"


def test_a_copied_file_begins_with_its_copy(repository: Repository) -> None:
    """The history of another file that still exists is not its own."""
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    repository.commit("old", robots_txt=body)
    (repository.folder / "shop").mkdir()
    (repository.folder / "shop" / "robots.txt").write_bytes(body)
    repository.commit("copy")
    found = file_versions(repository.folder / "shop" / "robots.txt")
    assert [one.subject for one in found] == ["copy"]


def test_a_hostile_subject_forges_nothing(repository: Repository) -> None:
    """Separators, escapes and bytes that are not UTF-8, in a subject and a name."""
    repository.git("config", "i18n.commitEncoding", "utf-8")
    forged = "x\x1e\x1f" + "a" * 40 + "\x1f0\x1fEve\x1f:100644 100644 0 0 M"
    repository.commit(forged, robots_txt=b"1\n")
    repository.commit("long " + "x" * 100_000, robots_txt=b"2\n")
    found = file_versions(repository.folder / "robots.txt")
    assert [one.octets for one in found] == [b"1\n", b"2\n"]
    assert found[0].subject == forged
    assert found[0].author == "Ann Example"
    assert len(found[1].subject) == 500


def test_names_with_magic_and_odd_bytes(repository: Repository) -> None:
    """A name is a name: no glob, no pathspec magic; it may be any bytes."""
    for name in (":(glob)*", "-x.txt", "ro bots\udcff.txt"):
        (repository.folder / name).write_bytes(name.encode("utf-8", "surrogateescape"))
    repository.commit("odd")
    for name in (":(glob)*", "-x.txt", "ro bots\udcff.txt"):
        octets = name.encode("utf-8", "surrogateescape")
        assert [one.octets for one in file_versions(repository.folder / name)] == [octets]
        assert file_at(repository.folder / name, "HEAD") == octets
    with pytest.raises(GitError, match="is a folder: pass a file in it"):
        file_versions(repository.folder)


def test_a_bare_repository_and_a_worktree(repository: Repository, tmp_path: Path) -> None:
    """Neither needs the file in the folder."""
    repository.commit("one", robots_txt=b"1\n")
    repository.git("clone", "-q", "--bare", ".", "bare.git")
    repository.git("worktree", "add", "-q", "--detach", "tree")
    for folder in ("bare.git", "tree"):
        file = tmp_path / folder / "robots.txt"
        assert [one.octets for one in file_versions(file)] == [b"1\n"]
        assert file_at(file, "HEAD") == b"1\n"
        assert not is_shallow(file)


def test_a_shallow_clone_says_so(repository: Repository, tmp_path: Path) -> None:
    """Its oldest commit seems to add the file."""
    repository.commit("one", robots_txt=b"1\n")
    repository.commit("two", robots_txt=b"2\n")
    repository.git("clone", "-q", "--depth", "1", f"file://{tmp_path}", "shallow")
    file = tmp_path / "shallow" / "robots.txt"
    assert [one.subject for one in file_versions(file)] == ["two"]
    assert is_shallow(file)


def test_a_partial_clone_starts_no_program(repository: Repository, tmp_path: Path) -> None:
    """Its missing files would be fetched with a program that its settings name."""
    repository.commit("one", robots_txt=b"1\n")
    repository.commit("two", robots_txt=b"2\n")
    repository.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{tmp_path}"
    repository.git("clone", "-q", "--filter=blob:none", "--no-checkout", url, "partial")
    clone, touched = Repository.at(tmp_path / "partial"), tmp_path / "touched"
    clone.git("config", "remote.origin.uploadpack", f"touch {touched}; false")
    clone.git("config", "protocol.file.allow", "always")
    for read in (file_versions, lambda file: file_at(file, "HEAD")):
        with pytest.raises(GitError, match="clone the repository without --filter"):
            read(clone.folder / "robots.txt")
    assert not touched.exists()


def test_limits(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one file, on all, on the list of commits, and on time."""
    repository.commit("one", robots_txt=b"x" * 1000)
    repository.commit("two", robots_txt=b"y" * 1000)
    file = repository.folder / "robots.txt"
    monkeypatch.setattr(git_history, "LARGEST_FILE", 100)
    assert [one.octets for one in file_versions(file)] == [b"x" * 100, b"y" * 100]
    assert file_at(file, "HEAD") == b"y" * 100
    for name, words in (
        ("MOST_BYTES", "all versions together"),
        ("LARGEST_BLOB", "so it is no robots.txt"),
        ("MOST_OUTPUT", "git answered more than"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(git_history, name, 150)
            with pytest.raises(GitError, match=words):
                file_versions(file)
    with monkeypatch.context() as patch:
        patch.setattr(git_history, "MOST_VERSIONS", 1)
        assert [one.subject for one in file_versions(file)] == ["two"]


def test_a_git_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository may be on a disk that does not answer."""
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(git_history, "TIMEOUT", 0.1)
    with pytest.raises(GitError, match=r"git did not answer within 0\.1 seconds"):
        file_versions(tmp_path / "robots.txt")
    program.chmod(0o644)
    with pytest.raises(GitError, match="git cannot be run in"):
        file_versions(tmp_path / "robots.txt")


def test_a_repository_of_someone_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git refuses it, as in containers of CI; the message says what to do."""
    program = tmp_path / "git"
    words = "fatal: detected dubious ownership in repository at /x"
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 128\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match=r"^detected dubious .* --add safe\.directory FOLDER$"):
        file_versions(tmp_path / "robots.txt")
