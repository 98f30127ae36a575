"""The branches of `robotrules write`, run in this process; the transcript shows the output."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

from robotrules import parse
from robotrules.cli.write import _prove_preset
from robotrules.json_results.schemas import load_schema
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.write import write
from robotrules.write.presets import PRESETS, Preset
from tests.cli.schema import problems
from tests.cli.shell import Ran, robotrules

POLICY = b'everyone.keep-out = "/x"\n'
TEXT = "User-agent: *\nDisallow: /x\n"


@pytest.fixture
def policy(tmp_path: Path) -> str:
    """A policy."""
    path = tmp_path / "policy.toml"
    path.write_bytes(POLICY)
    return str(path)


def test_a_file_or_stdin_to_a_file_or_stdout(policy: str, tmp_path: Path) -> None:
    """Data goes to stdout, or only to the file of `-o`."""
    assert robotrules("write", policy) == Ran(0, TEXT, "")
    assert robotrules("write", "-", stdin=POLICY) == Ran(0, TEXT, "")
    target = tmp_path / "robots.txt"
    assert robotrules("write", policy, "-o", str(target)) == Ran(0, "", "")
    assert target.read_bytes() == TEXT.encode()


def test_json_contains_the_parsed_policy(policy: str) -> None:
    """The policy's name, the text, and its parts."""
    ran = robotrules("write", policy, "--json")
    found = json.loads(ran.out)
    assert (found["schema"], found["policy"], found["robotstxt"]) == (1, policy, TEXT)
    assert found["groups"][0]["rules"] == [{"key": "disallow", "pattern": "/x"}]
    assert json.loads(robotrules("write", "-", "--json", stdin=POLICY).out)["policy"] is None


@pytest.mark.parametrize(
    ("body", "code", "same", "equivalent"),
    [
        (TEXT.encode(), 0, True, True),
        (b"user-agent:*\r\ndisallow:/x", 1, False, True),
        (b"User-agent: *\nDisallow: /y\n", 1, False, False),
        (b"User-agent: *\nDisallow: /" + b"x" * 20_000, 1, False, False),
    ],
)
def test_compare(
    policy: str, tmp_path: Path, body: bytes, code: int, same: bool, equivalent: bool
) -> None:
    """Exit code 1 if an octet differs; JSON reports whether the rules are equivalent."""
    existing = tmp_path / "robots.txt"
    existing.write_bytes(body)
    ran = robotrules("write", policy, "--compare", str(existing))
    assert ran.code == code
    assert bool(ran.out) == bool(ran.err) == (not same)
    assert ("is equivalent" in ran.err) == (equivalent and not same)
    ran = robotrules("write", policy, "--compare", "-", "--json", stdin=body)
    check = {"file": None, "same": same, "equivalent": equivalent}
    assert json.loads(ran.out)["compare"] == check
    ran = robotrules("write", policy, "--compare", str(existing), "--json")
    assert json.loads(ran.out)["compare"]["file"] == str(existing)
    assert existing.read_bytes() == body
    assert robotrules("write", policy, "--compare", "-", stdin=body).code == code


TAGS = b"[everyone]\n[[tags]]\npaths = ['/x', '{}']\nrules = ['noindex']\n"


def test_check(tmp_path: Path) -> None:
    """As a server: notes on stdout, and 1 if one of them stops the start."""
    file = tmp_path / "policy.toml"
    for pattern, code, level in ((b"/y", 0, None), (b"/y*", 0, "info"), (b"/[0-9]", 1, "warning")):
        policy = TAGS.replace(b"{}", pattern)
        file.write_bytes(policy)
        for name, stdin, place in ((str(file), b"", str(file)), ("-", policy, "the policy text")):
            ran = robotrules("write", name, "--check", stdin=stdin)
            assert ran.code == code
            assert ran.out.startswith(f"{place}, line 2, tags for '" if level else "")
            assert ran.out.count("\n") == bool(level)
            assert ran.err.count("does not start with") == code
            found = json.loads(robotrules("write", name, "--check", "--json", stdin=stdin).out)
            assert found["policy"] == (None if name == "-" else name)
            assert found["check"]["can_be_served"] is (code == 0)
            assert [note["level"] for note in found["check"]["notes"]] == [level] * bool(level)
    ran = robotrules("write", str(file), "--check", "--ignore", "RR516,pattern-like-an-expression")
    assert ran == Ran(0, "", "")


def test_check_reads_as_a_server_does(tmp_path: Path) -> None:
    """A policy that names a robots.txt, a robots.txt itself, and stdin without a line end."""
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisalow: /x\n")
    (tmp_path / "policy.toml").write_text('robots-txt = "robots.txt"\n')
    for name in ("robots.txt", "policy.toml"):
        ran = robotrules("write", str(tmp_path / name), "--check")
        assert ran.code == 1
        assert f"{tmp_path / 'robots.txt'}, line 2 ('Disalow: /x'): warning RR301" in ran.out
    assert robotrules("write", "-", "--check", stdin=b"everyone.keep-out = '/x'") == Ran(0, "", "")


def test_hints_at_names_outside_the_grammar() -> None:
    """They are written, with a hint."""
    ran = robotrules("write", "-", stdin=b"for = [{crawlers = ['MJ12bot', 'a']}]")
    assert ran.out == "User-agent: MJ12bot\nUser-agent: a\nDisallow:\n"
    assert ran.err.count("MJ12bot") == 1


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (["-", "--compare", "-"], b"", "cannot both be stdin"),
        (["-", "--compare", "a", "-o", "b"], b"", "--compare and --output cannot be combined"),
        (["-", "--check", "-o", "b"], b"", "--check and --output cannot be combined"),
        (["-", "--check", "--compare", "b"], b"", "--check and --compare cannot be combined"),
        (["-", "--ignore", "RR510"], b"", "--ignore names checks of lint: pass --check too"),
        (["-", "--check", "--ignore", "x"], b"a=1", 'line 1: a: there is no key "a" here'),
        (
            ["-", "--check", "--ignore", "x"],
            b"[everyone]",
            "ignore names 'x', which is not a check",
        ),
        (["missing.toml", "--check"], b"", "cannot be read: No such file"),
        (["-", "--check"], b"\xff", "stdin is not UTF-8 at byte 0"),
        (["-", "-o", "missing/a"], b"", "cannot write 'missing/a'"),
        (["missing"], b"", "no such file"),
        (["-"], b"\xff", "stdin is not UTF-8 at byte 0"),
        (["-"], b"#" * (1024 * 1024 + 1), "larger than 1 MiB"),
        (["-"], b"x = 1", 'stdin, line 1: x: there is no key "x"'),
    ],
)
def test_errors(arguments: list[str], stdin: bytes, words: str) -> None:
    """Exit code 2, and one line on stderr."""
    ran = robotrules("write", *arguments, stdin=stdin)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_a_policy_that_cannot_be_read_to_its_end(policy: str) -> None:
    """A late I/O error has the same message as an early one."""
    broken = mock.Mock()
    broken.read.side_effect = OSError(5, "Input/output error")
    with mock.patch("robotrules.cli.write.open_octets", return_value=broken):
        ran = robotrules("write", policy)
    assert (ran.code, ran.out) == (2, "")
    assert "Input/output error" in ran.err
    assert broken.close.called


def test_the_file_is_written_in_one_piece(policy: str, tmp_path: Path) -> None:
    """A link stays one, a failure leaves the old file, and no other name is opened."""
    target, other = tmp_path / "robots.txt", tmp_path / "elsewhere"
    other.write_text("old")
    target.symlink_to(other)
    assert robotrules("write", policy, "-o", str(target)).code == 0
    assert target.is_symlink()
    assert other.read_bytes() == TEXT.encode()
    other.write_text("old")
    with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")):
        ran = robotrules("write", policy, "-o", str(target))
    assert (ran.code, "No space left" in ran.err) == (2, True)
    assert other.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"robots.txt", "elsewhere", "policy.toml"}


def test_stdout_by_its_name(policy: str) -> None:
    """`-o -` is stdout, as in the other commands."""
    assert robotrules("write", policy, "-o", "-") == Ran(0, TEXT, "")


def test_the_policy_is_not_overwritten(policy: str) -> None:
    """It is the input."""
    ran = robotrules("write", policy, "-o", policy)
    assert (ran.code, "would overwrite an input file" in ran.err) == (2, True)
    assert Path(policy).read_bytes() == POLICY


def test_a_policy_made_to_hurt() -> None:
    """Depth ends in one line, and not in a traceback."""
    ran = robotrules("write", "-", stdin=b"x = " + b"[" * 20_000)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


# --- Presets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_a_valid_robots_txt_and_the_matrix_goes_to_stderr(preset: str) -> None:
    """In a pipe, stdout has the file alone."""
    ran = robotrules("write", "--preset", preset)
    assert (ran.code, ran.out) == (0, write(PRESETS[preset].robots()))
    assert f"Who may fetch what: {preset}" in ran.err
    assert f"Checked for all {len(KNOWN_CRAWLERS)} well-known crawlers" in ran.err
    assert robotrules("write", "--preset", preset, "-q", "-o", "-") == Ran(0, ran.out, "")


def test_a_preset_in_a_file(tmp_path: Path) -> None:
    """The matrix is data then; --quiet omits it, and --compare finds the file the same."""
    target = tmp_path / "robots.txt"
    ran = robotrules("write", "--preset", "search-only", "-o", str(target))
    assert (ran.code, ran.err) == (0, f"robotrules write: '{target}' written\n")
    assert ran.out.startswith("Who may fetch what: robots.txt\n")
    assert "Googlebot" in target.read_text()
    ran = robotrules("write", "--preset", "search-only", "-q", "-o", str(target))
    assert (ran.code, ran.out) == (0, "")
    assert robotrules("write", "--preset", "search-only", "--compare", str(target)) == Ran(
        0, "", ""
    )
    ran = robotrules("write", "--preset", "block-all", "--compare", str(target))
    assert ran.code == 1
    assert "differs from the preset" in ran.err


def test_json_of_a_preset_has_every_crawler(tmp_path: Path) -> None:
    """It follows the schema; with -o the file is written too, and no matrix is printed."""
    target = tmp_path / "robots.txt"
    ran = robotrules("write", "--preset", "block-ai-training", "--json", "-o", str(target))
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert list(problems(found, load_schema("write"))) == []
    assert found["robotstxt"] == target.read_text()
    allowed = {one["product_token"]: one["allowed"] for one in found["preset"]["crawlers"]}
    assert (len(allowed), allowed["GPTBot"], allowed["Googlebot"]) == (
        len(KNOWN_CRAWLERS),
        False,
        True,
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("x.toml", "--preset", "block-all"), "the policy 'x.toml' cannot be combined"),
        (("--preset", "block-all", "--check"), "--preset and --check cannot be combined"),
        (("--preset", "block-all", "--compare", "x", "-o", "y"), "cannot be combined"),
        (("--preset", "block-all", "--ignore", "RR512"), "pass --check too"),
        (("-", "-q"), "pass --preset, or remove it"),
        (("x.toml", "--add-to", "x"), "--add-to is for a preset: pass --preset"),
        (("x.toml", "--sitemap", "https://example.com/"), 'or write sitemaps = ["..."]'),
        (("--preset", "block-ai-all", "--add-to", "x", "--compare", "y"), "cannot be combined"),
        (
            ("--preset", "block-ai-all", "--add-to", "x", "--sitemap", "https://example.com/"),
            "write the Sitemap line into the file",
        ),
        (("--preset", "block-ai-all", "--add-to", "/nonexistent/x"), "cannot read robots.txt"),
        (("--preset", "block-ai-all", "--sitemap", "/s.xml"), "is not an absolute URL: write one"),
        ((), "pass a POLICY, or --preset"),
        (("--preset", "x"), "is not one of 'block-ai-training'"),
    ],
)
def test_misuse_of_presets(arguments: tuple[str, ...], words: str) -> None:
    """Exit code 2, and what to do."""
    ran = robotrules("write", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


@pytest.mark.parametrize("preset", PRESETS)
def test_sitemaps_of_a_preset(preset: str) -> None:
    """They are lines of the file, in the order given; the preset stays what it says."""
    urls = ["https://example.com/b.xml", "https://example.com/a.xml"]
    options = [part for url in urls for part in ("--sitemap", url)]
    ran = robotrules("write", "--preset", preset, "-q", *options)
    assert (ran.code, ran.err) == (0, "")
    assert [sitemap.url for sitemap in parse(ran.out).sitemaps] == urls
    assert ran.out.replace("".join(f"Sitemap: {url}\n" for url in urls) + "\n", "") == write(
        PRESETS[preset].robots()
    )


def test_a_preset_is_added_to_a_file(tmp_path: Path) -> None:
    """The words go to stderr; a second run leaves the file alone; `-` is stdin."""
    target = tmp_path / "robots.txt"
    old = b"User-agent: *\r\nDisallow: /a\xff\r\n\r\nUser-agent: GPTBot\r\nDisallow: /x\r\n"
    target.write_bytes(old)
    arguments = ("write", "--preset", "block-ai-training", "--add-to", str(target))
    ran = robotrules(*arguments, "-q")
    assert (ran.code, target.read_bytes()) == (0, old)
    assert "User-agent: GPTBot" in ran.out
    for words in ("17 names", "GPTBot had rules of its own (line 4)", "proved under profiles"):
        assert words in ran.err
    assert "line 5 removed too" in ran.err
    ran = robotrules(*arguments, "-o", str(target))
    assert (ran.code, ran.out.startswith(f"--- {target}\n+++ ")) == (0, True)
    body = target.read_bytes()
    assert body.startswith(b"User-agent: *\r\nDisallow: /a\xff\r\n\r\n# block-ai-training")
    before = target.stat()
    ran = robotrules(*arguments, "-o", str(target))
    assert (ran.code, ran.out, "is unchanged" in ran.err) == (0, "", True)
    assert target.stat().st_mtime_ns == before.st_mtime_ns
    assert "nothing to add" in ran.err
    ran = robotrules("write", "--preset", "block-ai-training", "--add-to", "-", stdin=old)
    assert (ran.code, "--- stdin" in ran.err) == (0, True)


def test_json_of_an_addition_follows_the_schema(tmp_path: Path) -> None:
    """The text, and what was added, kept and replaced."""
    target = tmp_path / "robots.txt"
    target.write_bytes(b"User-agent: GPTBot\nUser-agent: ExampleBot\n")
    arguments = ("--preset", "block-ai-all", "--add-to", str(target), "--json")
    ran = robotrules("write", *arguments)
    found = json.loads(ran.out)
    assert (ran.code, ran.err, list(problems(found, load_schema("write")))) == (0, "", [])
    assert found["addition"]["replaced"] == [{"name": "GPTBot", "lines": [1], "removed_lines": []}]
    assert found["addition"]["is_ended"]
    assert found["addition"]["file"] == str(target)


def test_an_addition_that_is_refused_leaves_the_file(tmp_path: Path) -> None:
    """Exit code 2, the reason, and nothing is written."""
    target = tmp_path / "robots.txt"
    target.write_text("User-agent: AI\nDisallow: /x\n")
    options = ("--add-to", str(target), "-o", str(target))
    for preset, words in (("block-ai-all", "nothing changes for AI"), ("block-all", "new file")):
        ran = robotrules("write", "--preset", preset, *options)
        assert (ran.code, ran.out, words in ran.err) == (2, "", True)
        assert target.read_text() == "User-agent: AI\nDisallow: /x\n"


def test_a_comparison_with_a_preset_says_what_it_means(tmp_path: Path) -> None:
    """A preset is a whole file; one by purpose can be added in place of that."""
    target = tmp_path / "robots.txt"
    target.write_text("User-agent: *\nDisallow: /a\nSitemap: https://example.com/s.xml\n")
    ran = robotrules("write", "--preset", "block-ai-all", "--compare", str(target))
    assert "would replace its 1 rule and 1 sitemap" in ran.err
    assert f"pass --add-to '{target}' and no --compare" in ran.err
    ran = robotrules("write", "--preset", "search-only", "--compare", str(target))
    assert "would replace its 1 rule" in ran.err
    assert "--add-to" not in ran.err


def test_a_mismatch_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    """The file of a preset that is not what it says is a bug, and never silent."""
    target = tmp_path / "robots.txt"
    with mock.patch.object(Preset, "_named", return_value=[]):
        ran = robotrules("write", "--preset", "block-ai-all", "-o", str(target))
    assert (ran.code, ran.out) == (2, "")
    assert "please report this" in ran.err
    assert not target.exists()


def test_without_stderr_a_preset_is_written() -> None:
    """The matrix has nowhere to go."""
    with mock.patch("sys.stderr", None):
        _prove_preset(PRESETS["allow-all"], "", None)


def test_a_closed_stderr_does_not_matter() -> None:
    """The file was written before."""
    with mock.patch("robotrules.cli.write.Output.flush", side_effect=BrokenPipeError):
        _prove_preset(PRESETS["allow-all"], "", None)


def test_a_hint_about_purposes_and_none_about_names_of_for_purpose() -> None:
    """A purpose of the draft has no effect on well-known crawlers."""
    policy = b'[[for]]\npurposes = ["ai-training"]\nkeep-out = "/"\n'
    assert 'for-purpose = ["ai-training"] names them' in robotrules("write", "-", stdin=policy).err
    named = policy + b'[[for]]\ncrawlers = "GPTBot"\n'
    assert robotrules("write", "-", stdin=named).err == ""
    expanded = policy.replace(b"purposes", b"for-purpose")
    ran = robotrules("write", "-", stdin=expanded)
    assert ran.err == ""
    assert "AI2Bot" in ran.out
    assert robotrules("write", "-", "--check", stdin=expanded).code == 0
