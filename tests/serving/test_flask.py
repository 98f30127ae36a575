"""The Flask extension, in an application that Flask's server serves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from flask import Flask, Response, jsonify

from robotrules.integrations.flask import RobotRules
from robotrules.serving import PolicyError, SitePolicy
from tests.serving.loopback_servers import run_werkzeug
from tests.serving.serving_contract import MISTAKE, SECONDS, SETTINGS, ServingContract, request

ROBOTS = "User-agent: *\nDisallow: /a/\n"
OWN = {"X-Robots-Tag": "noarchive", "Content-Usage": "train-ai=y"}


def make_app(**settings: Any) -> Flask:
    """Return an application with the routes of the contract."""
    app = Flask("tests.serving.test_flask")
    app.config.update({f"ROBOTRULES_{name.upper()}": value for name, value in settings.items()})
    robots = RobotRules(app)
    released = Event()

    def parts() -> Iterator[str]:
        yield "first"
        released.wait(SECONDS)
        yield "second"

    @app.get("/stream")
    def stream() -> Response:
        return Response(parts())

    @app.get("/release")
    def release() -> str:
        released.set()
        return "released"

    @app.get("/counters")
    def counters() -> Response:
        return jsonify(robots.site.counters.as_dict())

    @app.get("/missing")
    def missing() -> tuple[str, int]:
        return "", 404

    @app.get("/drafts/own")
    def own() -> tuple[str, dict[str, str]]:
        return "own", OWN

    @app.get("/widgets/own")
    def widget() -> tuple[str, dict[str, str]]:
        return "own", {"X-Robots-Tag": "noindex"}

    @app.get("/", defaults={"path": ""})
    @app.get("/<path:path>")
    def page(path: str) -> str:
        return "page"

    return app


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Serve the application."""
    with run_werkzeug(make_app(**SETTINGS)) as port:
        yield port


class TestFlask(ServingContract):
    """Flask and its server."""


def test_a_policy_in_the_folder_of_the_application(tmp_path: Path) -> None:
    """A relative path starts there; so do those of hosts."""
    (tmp_path / "policy.toml").write_text("[everyone]\nkeep-out = ['/a/']\n")
    (tmp_path / "shop.txt").write_text("User-agent: *\nDisallow: /b/\n")
    app = Flask("example", root_path=str(tmp_path))
    app.config["ROBOTRULES_POLICY"] = "policy.toml"
    app.config["ROBOTRULES_HOSTS"] = {"shop.example": Path("shop.txt")}
    RobotRules().init_app(app)
    client = app.test_client()
    assert "Disallow: /a/" in client.get("/robots.txt").text
    assert "Disallow: /b/" in client.get("http://shop.example/robots.txt").text


def test_error_pages_have_the_fields() -> None:
    """Also those of exceptions, which Flask makes after its own hooks."""
    app = make_app(**SETTINGS)

    @app.get("/drafts/error")
    def error() -> str:
        raise RuntimeError("as the test wants it")

    app.logger.disabled = True
    with run_werkzeug(app) as port:
        found = request(port, "/drafts/error")
        assert (found.status, found.tags()) == (500, {"noindex": True})


def test_the_settings_are_checked() -> None:
    """Each mistake says what to write."""
    with pytest.raises(PolicyError, match=r"warning RR301 typo"):
        make_app(policy=MISTAKE)
    with pytest.raises(RuntimeError, match="already set up"):
        RobotRules(make_app(**SETTINGS))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {},
            'missing setting ROBOTRULES_POLICY: set app.config["ROBOTRULES_POLICY"] = '
            '"policy.toml" before RobotRules(app)',
        ),
        (
            {"ROBOTRULE_POLICY": "policy.toml"},
            "unknown setting ROBOTRULE_POLICY: did you mean 'ROBOTRULES_POLICY'?",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "ROBOTRULE_STAGING": ["a.example"]},
            "unknown setting ROBOTRULE_STAGING: did you mean 'ROBOTRULES_STAGING'?",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "robotrules_staging": True},
            "unknown setting robotrules_staging: did you mean 'ROBOTRULES_STAGING'?",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "ROBOTRULES_STAGING": {"www.example.com": False}},
            "ROBOTRULES_STAGING is a list of hosts, or True; not {'www.example.com': False}: pass "
            "['staging.example.com']",
        ),
        (
            {"ROBOTRULES_POLICY": "User-agent: *\nDisalow: /x\n"},
            "accept it with ROBOTRULES_IGNORE = ['RR301', 'RR510']; `robotrules rule RR301` "
            "explains the check",
        ),
        (
            {"ROBOTRULES_POLCY": "policy.toml"},
            "unknown setting ROBOTRULES_POLCY: did you mean 'ROBOTRULES_POLICY'?",
        ),
        (
            {"ROBOTRULES_X": 1},
            "unknown setting ROBOTRULES_X: use ROBOTRULES_POLICY, ROBOTRULES_HOSTS, "
            "ROBOTRULES_STAGING, ROBOTRULES_MAX_AGE, ROBOTRULES_MIN_LEVEL, ROBOTRULES_IGNORE",
        ),
        (
            {"ROBOTRULES_POLICY": ""},
            "ROBOTRULES_POLICY is empty: set it to the path of a policy, 'policy.toml'",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "ROBOTRULES_HOSTS": {"a.example": " "}},
            "ROBOTRULES_HOSTS['a.example'] is empty: set it to the path of a policy, 'policy.toml'",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "ROBOTRULES_HOSTS": ["a.example"]},
            "ROBOTRULES_HOSTS has a policy for each host, such as {host: file}; not list",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "ROBOTRULES_HOSTS": {"a b": ROBOTS}},
            "ROBOTRULES_HOSTS: 'a b' is not a host: write a name such as 'shop.example.com', or "
            "'*.example.com' for all names below it",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "ROBOTRULES_STAGING": "True"},
            "ROBOTRULES_STAGING is the text 'True': write True without quotes",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "ROBOTRULES_IGNORE": ["tipo"]},
            "ROBOTRULES_IGNORE names 'tipo', which is not a check: did you mean RR301 (typo)?",
        ),
        (
            {"ROBOTRULES_POLICY": "/policy of hosts/none.toml"},
            "ROBOTRULES_POLICY '/policy of hosts/none.toml' cannot be read: No such file or "
            "directory",
        ),
        (
            {"ROBOTRULES_POLICY": ROBOTS, "ROBOTRULES_HOSTS": {"a.example": "/none.toml"}},
            "ROBOTRULES_HOSTS['a.example'] '/none.toml' cannot be read: No such file or directory",
        ),
    ],
)
def test_a_mistake_in_a_setting(settings: dict[str, Any], message: str) -> None:
    """A PolicyError with the name of the setting, and what to write."""
    app = Flask("example")
    app.config.update(settings)
    with pytest.raises(PolicyError) as caught:
        RobotRules(app)
    assert str(caught.value).endswith(message)


def test_names_of_files_are_not_renamed(tmp_path: Path) -> None:
    """Only the argument at the start of a message is replaced by the name of the setting."""
    file = tmp_path / "my policy files" / "a.toml"
    file.parent.mkdir()
    file.write_text("[everyone]\nkeepout = []\n")
    app = Flask("example")
    app.config["ROBOTRULES_POLICY"] = str(file)
    with pytest.raises(PolicyError) as caught:
        RobotRules(app)
    assert str(caught.value).startswith(f"{file}, line 2: everyone.keepout")


def test_settings_beside_a_policy_object() -> None:
    """They would have no effect."""
    app = Flask("example")
    app.config["ROBOTRULES_STAGING"] = ["staging.example"]
    with pytest.raises(PolicyError, match=r"ROBOTRULES_STAGING has no effect beside RobotRules"):
        RobotRules(app, SitePolicy(ROBOTS))


def test_misuse() -> None:
    """A policy in place of the application, and an application without the extension."""
    with pytest.raises(TypeError, match="app is a Flask application, not str"):
        RobotRules("policy.toml")  # type: ignore[arg-type]
    with (
        Flask("example").app_context(),
        pytest.raises(RuntimeError, match="not set up for 'example': call init_app"),
    ):
        _ = RobotRules().site


def test_a_policy_object_can_be_passed() -> None:
    """For settings that come from elsewhere."""
    site = SitePolicy("User-agent: *\nDisallow: /a/\n")
    app = Flask("example")
    RobotRules(app, site)
    assert app.test_client().get("/robots.txt").data == site.robots_txt()


@pytest.mark.parametrize("host", ["flask", "django"])
def test_a_missing_extra_says_what_to_install(host: str) -> None:
    """All modules of an integration say it."""
    modules = [f"robotrules.integrations.{host}"]
    if host == "django":
        parts = ("apps", "checks", "middleware", "site_settings")
        modules += [f"{modules[0]}.{part}" for part in parts]
    for module in modules:
        code = f"import sys; sys.modules[{host!r}] = None; import {module}"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert f"{host} is not installed: pip install 'robotrules[{host}]'" in ran.stderr
