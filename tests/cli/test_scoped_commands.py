"""`robotrules directives` and `preferences`, run in this process: every branch of their pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robotrules.cli import run

EXAMPLES = Path(__file__).parents[2] / "examples"
DIRECTIVES = ["--robots", str(EXAMPLES / "app-directives.txt")]
PREFERENCES = ["--robots", str(EXAMPLES / "content-usage.txt")]
Captured = pytest.CaptureFixture[str]


class TestDirectives:
    """The directives of a file for an application, as text and as JSON."""

    def test_for_people(self, capsys: Captured) -> None:
        """Groups, directives with their lines, adjacent records, notes."""
        registry = ["--registry", str(EXAMPLES / "registries.json")]
        asked = ["/press/1", "/", "--app", "examplesearch", *registry]
        assert run(["directives", *asked, *DIRECTIVES]) == 0
        out = capsys.readouterr().out
        assert "widgets=?1  Boolean  registered  line 6  /press/" in out
        assert "widgets=?0  Boolean  registered  line 5  every path" in out
        assert "line 8: error bad-structure" in out

    @pytest.mark.parametrize("application", ["exampleassistant", "examplemaps", "nobody"])
    def test_any_application(self, application: str, capsys: Captured) -> None:
        """Another application has other directives, or none."""
        token = ["--as", "ExampleMaps"] if application == "examplemaps" else []
        assert run(["directives", "/press/1", "--app", application, *token, *DIRECTIVES]) == 0
        assert application in capsys.readouterr().out

    def test_json(self, capsys: Captured) -> None:
        """One object for each URL."""
        assert run(["directives", "/", "/x", "--app", "examplesearch", "--json", *DIRECTIVES]) == 0
        captured = capsys.readouterr().out
        assert '"application": "examplesearch"' in captured

    @pytest.mark.parametrize(
        "asked",
        [
            ["--app", "x", *DIRECTIVES],
            ["/", *DIRECTIVES],
            ["/", "--app", "1x", *DIRECTIVES],
            ["/", "--app", "x"],
            ["/", "--app", "x", "--registry", "no-such-file.json", *DIRECTIVES],
            ["/", "--app", "x", "--registry", str(EXAMPLES / "purposes.txt"), *DIRECTIVES],
        ],
    )
    def test_misuse(self, asked: list[str], capsys: Captured) -> None:
        """Missing or invalid arguments give a one-line error and exit code 2."""
        assert run(["directives", *asked]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)


class TestPreferences:
    """Permitted uses of content, as text and as JSON."""

    def test_for_people(self, capsys: Captured) -> None:
        """Each category with its line; nothing for a disallowed URL; signals on request."""
        asked = ["/papers/open/1", "/drafts/1", "/", "--as", "AnyBot", "--signals"]
        assert run(["preferences", *asked, *PREFERENCES]) == 0
        out = capsys.readouterr().out
        assert "train-ai  allowed     line 5: Content-Usage: /papers/open/" in out
        assert "not applicable: the URL is disallowed, line 3: Disallow: /drafts/" in out
        assert "as Content-Usage: train-ai=n, search=y" in out

    def test_a_field(self, capsys: Captured) -> None:
        """A field counts with the file, and without one."""
        field = ["--content-usage", "train-ai=y", "--content-usage", "search=n"]
        assert run(["preferences", "/papers/open/1", "--as", "x", *field, *PREFERENCES]) == 0
        assert "field" in capsys.readouterr().out
        assert run(["preferences", "/", *field]) == 0
        assert run(["preferences", "/", "--content-usage", "train-ai=,"]) == 0
        capsys.readouterr()

    def test_json(self, capsys: Captured) -> None:
        """One object for each URL."""
        asked = ["/", "--as", "AnyBot", "--purpose", "P", "--signals", "--json"]
        assert run(["preferences", *asked, *PREFERENCES]) == 0
        assert json.loads(capsys.readouterr().out)["preferences"]["train-ai"] == "disallowed"

    @pytest.mark.parametrize(
        "asked",
        [
            ["--as", "x", *PREFERENCES],
            ["/", "--as", "x"],
            ["/", *PREFERENCES],
            ["/", "--as", "x", "--purpose", "", *PREFERENCES],
            ["/", "/a", "--as", "x", "--content-usage", "train-ai=n", *PREFERENCES],
        ],
    )
    def test_misuse(self, asked: list[str], capsys: Captured) -> None:
        """Missing or invalid arguments give a one-line error and exit code 2."""
        assert run(["preferences", *asked]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)
