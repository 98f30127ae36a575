"""`robotrules` itself, its messages on stderr, and the files it reads; run in this process."""

from __future__ import annotations

import errno
import io
import json
import sys
from unittest import mock

import click
import pytest

import robotrules as library
from robotrules.cli import COMMANDS, console, input_files, main, program, run
from tests.cli.shell import Ran, check, environment, robotrules


class TestProgram:
    """`robotrules` itself."""

    def test_version_names_the_engine(self) -> None:
        ran = robotrules("--version")
        assert ran.code == 0
        assert ran.out.startswith(f"robotrules {library.__version__} ({library.engine_name()} eng")
        assert f"Python {sys.version_info.major}.{sys.version_info.minor}." in ran.out

    def test_no_arguments_show_help_as_an_error(self) -> None:
        ran = robotrules()
        assert ran.code == 2
        assert ran.out == ""
        assert "Usage: robotrules" in ran.err

    @pytest.mark.parametrize("name", [None, *COMMANDS])
    def test_help_has_examples(self, name: str | None) -> None:
        ran = robotrules(*([name] if name else []), "--help")
        assert ran.code == 0
        assert ran.err == ""
        assert "  robotrules " + (name or "check") in ran.out.split("Usage:")[1][20:]

    def test_every_command_that_prints_data_has_json(self) -> None:
        """As the help says; an editor, a browser or an agent reads what the servers print."""
        without = [name for name in COMMANDS if "--json" not in robotrules(name, "--help").out]
        assert without == ["lsp", "serve", "mcp"]
        assert "commands that print data have --json" in " ".join(robotrules("--help").out.split())

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_completion(self, shell: str, capsys: pytest.CaptureFixture[str]) -> None:
        """A script for the shell, as the tutorial says."""
        with environment(_ROBOTRULES_COMPLETE=f"{shell}_source"), pytest.raises(SystemExit) as end:
            run([])
        assert end.value.code == 0
        assert f"_ROBOTRULES_COMPLETE={shell}_complete" in capsys.readouterr().out

    def test_unknown_command(self) -> None:
        ran = robotrules("chek")
        assert ran.code == 2
        assert ran.err == (
            "robotrules: No such command 'chek' (did you mean check?); see robotrules --help\n"
        )
        ran = robotrules("qqq")
        assert ran.err == "robotrules: No such command 'qqq'; see robotrules --help\n"

    @pytest.mark.parametrize("name", COMMANDS)
    def test_an_option_with_one_value_is_given_once(self, name: str) -> None:
        """In every command and subcommand: click would use the last value silently."""
        context = click.Context(program)
        command = program.get_command(context, name)
        assert command is not None
        commands: list[tuple[tuple[str, ...], click.Command]] = [((name,), command)]
        if isinstance(command, click.Group):
            commands += [((name, inner), one) for inner, one in command.commands.items()]
        for path, one in commands:
            for option in (found for found in one.params if isinstance(found, click.Option)):
                spelled = [option.opts[0], "1", option.opts[-1], "1"]
                if option.is_flag or option.count or option.multiple:
                    continue
                ran = robotrules(*path, *spelled)
                longest = max(option.opts, key=len)
                assert (ran.code, ran.out) == (2, "")
                assert ran.err == (
                    f"robotrules {' '.join(path)}: {longest} is given twice: pass it once; see "
                    f"robotrules {' '.join(path)} --help\n"
                )

    def test_options_that_may_be_repeated(self, file: str) -> None:
        """Flags, and options for several values; other errors and the help stay as they are."""
        ran = check(file, "/a", "--literal", "--literal", "--purpose", "a", "--purpose", "b")
        assert ran.code == 0
        assert "No such option" in robotrules("check", "--robots", "a", "--robots", "b", "-x").err
        assert robotrules("check", "--robots", "a", "--robots", "b", "--help").code == 0
        ran = robotrules("check", "-oa.csv", "--robots=a", "--robots", "b", "--robots=c")
        assert "--robots is given 3 times" in ran.err

    def test_unknown_option_names_the_command(self) -> None:
        ran = robotrules("parse", "--nope")
        assert ran.code == 2
        assert ran.err.startswith("robotrules parse: No such option")
        assert ran.err.endswith("; see robotrules parse --help\n")

    def test_an_interrupt_is_130_without_a_traceback(self, file: str) -> None:
        with mock.patch.object(library.RobotsTxt, "rules_for", side_effect=KeyboardInterrupt):
            words = "robotrules check: interrupted\n"
            assert check(file, "/") == Ran(130, "", words)
            assert check(file, "/", terminals=["stderr"]) == Ran(130, "", f"\n{words}")

    def test_an_interrupt_ends_the_process_at_once(self) -> None:
        """Python would wait for the threads of a pool; other codes end as usual."""
        for code, left in ((130, [130]), (1, [])):
            with (
                mock.patch("robotrules.cli.run", return_value=code),
                mock.patch("os._exit") as leave,
                pytest.raises(SystemExit) as ended,
            ):
                main()
            assert [call.args[0] for call in leave.call_args_list] == left
            assert ended.value.code == code

    def test_an_interrupt_before_a_command_is_130(self) -> None:
        with mock.patch.object(program, "make_context", side_effect=KeyboardInterrupt):
            assert robotrules("parse").code == 130

    def test_a_reader_that_went_away_is_141(self, file: str) -> None:
        with mock.patch.object(console.Output, "flush", side_effect=BrokenPipeError):
            assert check(file, "/")[::2] == (141, "")

    def test_output_that_cannot_be_written(self, file: str) -> None:
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch.object(console.Output, "flush", side_effect=full):
            ran = check(file, "/")
        assert ran.code == 2
        assert "cannot write the output: No space left on device" in ran.err

    def test_closed_streams(self, file: str) -> None:
        arguments = ["check", "/x", "--as", "AnyBot", "--robots", file]
        with environment(), mock.patch.object(sys, "stdout", None):
            assert run(arguments) == 2
            assert run([*arguments, "--quiet"]) == 1
        with environment(), mock.patch.object(sys, "stdin", None):
            assert run(["check", "--as", "AnyBot", "--robots", file]) == 2
            assert run(["parse", "-"]) == 2
        with environment(), mock.patch.object(sys, "stderr", None):
            assert run(["check", "/x"]) == 2


class TestMessages:
    """Messages on stderr: errors end with exit code 2, hints do not."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["check", "/", "--as", "A"], "'/' has no scheme and host: pass a full URL"),
            (["check", "https://a/"], "missing --as"),
            (["check", "/", "--robots", "FILE"], "missing --as"),
            (["check", "/", "--robots", "FILE", "--as", " "], "--as is empty"),
            (["check", "--robots", "FILE", "--as", "A"], "add --urls -"),
            (["check", "--robots", "-", "--urls", "-", "--as", "A"], "cannot both be stdin"),
            (["check", "-", "--robots", "FILE", "--as", "A"], "'-' is not a URL"),
            (
                ["check", "/", "--robots", "http://a/", "--as", "A"],
                "remove --robots to fetch the robots.txt of each URL",
            ),
            (["check", "/", "--robots"], "requires an argument; see robotrules check --help"),
            (
                ["check", "/", "--robots", "FILE", "--as", "A", "--profile", "x"],
                "'x' is not one of",
            ),
            (["explain", "--robots", "FILE", "--as", "A"], "missing URL"),
            (["parse"], "Missing argument 'FILE'; see robotrules parse --help"),
        ],
    )
    def test_errors_are_one_line(self, file: str, arguments: list[str], words: str) -> None:
        ran = robotrules(*[file if argument == "FILE" else argument for argument in arguments])
        assert ran.code == 2
        assert ran.out == ""
        assert ran.err.startswith(f"robotrules {arguments[0]}: ")
        assert words in ran.err
        assert ran.err.count("\n") == 1

    def test_no_url_on_a_terminal(self, file: str) -> None:
        assert "--urls FILE with one per line" in check(file, terminals=["stdin"]).err

    @pytest.mark.parametrize(
        ("token", "why"),
        [
            ("ExampleBot/1.0", "; use --as ExampleBot\n"),
            ("ExampleBot ", "; use --as ExampleBot\n"),
            ("Mozilla/5.0 (compatible; ExampleBot/1.0)", "; use --as ExampleBot\n"),
            ("1 2", "or white space\n"),
            ("a,b", ""),
            ("https://example.com/", "a product token with --as\n"),
            ("MJ12bot", ""),
            ("*", ""),
            ("ExampleBot", ""),
        ],
    )
    def test_a_header_instead_of_a_token(self, file: str, token: str, why: str) -> None:
        """A value that is not a product token is refused, with a fix (AMB-22)."""
        commands = [
            ["check", "/"],
            ["explain", "/"],
            ["preferences", "/"],
            ["directives", "/", "--app", "x"],
        ]
        for command in commands:
            ran = robotrules(*command, "--as", token, "--robots", file)
            assert ran.code == (2 if why else 0)
            assert ran.err.endswith(why)
            assert bool(ran.err) == bool(why)

    def test_profile_google_reads_the_leading_name(self, file: str) -> None:
        """And says so; an empty name obeys the star there."""
        ran = robotrules(
            *("check", "/", "--as", "ExampleBot/1.0", "--robots", file, "--profile", "google")
        )
        assert "hint: 'ExampleBot/1.0' is parsed as 'ExampleBot'" in ran.err
        ran = robotrules("check", "/", "--as", "", "--robots", file, "--profile", "google")
        assert (ran.code, ran.err) == (
            0,
            "robotrules check: hint: '' is parsed as '*' by profile google\n",
        )

    @pytest.mark.parametrize(
        ("token", "cure"),
        [
            ("ExampleBot/1.0", "; use --as ExampleBot\n"),
            ("Foo12bot", "compares other names literally\n"),
        ],
    )
    def test_strict_refuses_names_outside_the_grammar(
        self, file: str, token: str, cure: str
    ) -> None:
        ran = robotrules("check", "/", "--as", token, "--robots", file, "--profile", "strict")
        assert ran.code == 2
        assert ran.err.endswith(cure)
        assert check(file, "/", "--profile", "strict", "--as", "*").code == 0

    def test_a_url_without_a_scheme(self, file: str) -> None:
        ran = check(file, "example.com/x")
        assert ran.code == 1
        assert "only '/x' of it is used" in ran.err

    def test_a_file_that_is_something_else(self) -> None:
        ran = check("-", "/", stdin=b"<!doctype html>")
        assert ran.code == 0
        assert ran.err == "robotrules check: error: stdin: The file starts like an HTML page.\n"


class TestRobotsFile:
    """The files that `--robots` and `parse` read."""

    @pytest.mark.parametrize(
        ("error", "cure"),
        [
            (FileNotFoundError(errno.ENOENT, "x"), "no such file"),
            (IsADirectoryError(errno.EISDIR, "x"), "it is a directory"),
            (PermissionError(errno.EACCES, "x"), "change its mode"),
            (OSError(errno.EIO, "Input/output error"), "Input/output error"),
            (OSError("odd"), "OSError"),
        ],
    )
    def test_a_one_line_error(self, error: OSError, cure: str) -> None:
        with mock.patch("builtins.open", side_effect=error):
            ran = robotrules("parse", "a\x1bb")
        assert ran.code == 2
        assert ran.err.startswith("robotrules parse: cannot read robots.txt from 'a\\x1bb': ")
        assert cure in ran.err
        assert ran.err.count("\n") == 1

    def test_an_error_while_reading(self, file: str) -> None:
        broken = mock.Mock(fileno=mock.Mock(side_effect=io.UnsupportedOperation))
        broken.read.side_effect = broken.read1.side_effect = OSError(
            errno.EIO, "Input/output error"
        )
        with mock.patch.object(input_files, "open_octets", return_value=broken):
            assert "from stdin: Input/output error" in robotrules("parse", "-").err
        assert broken.close.call_count == 0
        with mock.patch("robotrules.cli.url_files.open_octets", return_value=broken):
            assert "cannot read URLs from stdin" in check(file, "--urls", "-").err

    def test_content_far_past_the_limit_is_not_read(self) -> None:
        body = b"User-agent: *\nDisallow: /x\n" + b"# comment\n" * 1_000_000
        ran = robotrules("parse", "-", "--json", stdin=body)
        facts = json.loads(ran.out)["encoding"]
        assert facts["truncated"]
        assert facts["octets"] < 1_400_000
        ran = check("-", "/x", stdin=body)
        assert ran.code == 1
        assert "longer than the parsing limit" in ran.err
