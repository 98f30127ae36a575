"""The Django app, in a project of `startproject` that runserver (WSGI) and uvicorn (ASGI) serve."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.serving.loopback_servers import free_port, run_command, wait_for_port
from tests.serving.serving_contract import MISTAKE, SECONDS, SETTINGS, ServingContract, request

URLS = """
import asyncio
from threading import Event
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import re_path
from robotrules.integrations.django.site_settings import get_site

OWN = {"X-Robots-Tag": "noarchive", "Content-Usage": "train-ai=y"}
NOINDEX = {"X-Robots-Tag": "noindex"}
released = Event()

def parts():
    yield b"first"
    released.wait(10)
    yield b"second"

async def parts_async():
    yield b"first"
    while not released.is_set():
        await asyncio.sleep(0.01)
    yield b"second"

def stream(request):
    is_async = isinstance(request, ASGIRequest)
    return StreamingHttpResponse(parts_async() if is_async else parts())

def release(request):
    released.set()
    return HttpResponse("released")

urlpatterns = [
    re_path("^stream$", stream),
    re_path("^release$", release),
    re_path("^counters$", lambda request: JsonResponse(get_site().counters.as_dict())),
    re_path("^missing$", lambda request: HttpResponse(status=404)),
    re_path("^drafts/own$", lambda request: HttpResponse("own", headers=OWN)),
    re_path("^widgets/own$", lambda request: HttpResponse("own", headers=NOINDEX)),
    re_path("", lambda request: HttpResponse("page")),
]
"""
ADDED = """
DEBUG = False
ALLOWED_HOSTS = [".example"]
INSTALLED_APPS += ["robotrules.integrations.django"]
MIDDLEWARE.insert(0, "robotrules.integrations.django.middleware.DjangoRobotsMiddleware")
"""
ROBOTS = "User-agent: *\nDisallow:\n"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run `startproject` once."""
    folder = tmp_path_factory.mktemp("template")
    command = [sys.executable, "-m", "django", "startproject", "shop", "."]
    subprocess.run(command, cwd=folder, check=True, timeout=60)
    return folder


def make_project(template: Path, folder: Path, **settings: Any) -> Path:
    """Return the folder of a new project with these settings of the app."""
    shutil.copytree(template, folder, dirs_exist_ok=True)
    with (folder / "shop" / "settings.py").open("a") as file:
        file.write(f"{ADDED}\nROBOTRULES = {upper(settings)!r}\n")
    (folder / "shop" / "urls.py").write_text(URLS)
    return folder


def upper(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with the names that the app has."""
    return {name.upper(): value for name, value in settings.items()}


@pytest.fixture(scope="module")
def project(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the project of the contract."""
    return make_project(template, tmp_path_factory.mktemp("project"), **SETTINGS)


@pytest.fixture(scope="module", params=["runserver", "uvicorn"])
def port(request: pytest.FixtureRequest, project: Path) -> Iterator[int]:
    """Serve the project."""
    port = free_port()
    commands = {
        "runserver": ["manage.py", "runserver", "--noreload", str(port)],
        "uvicorn": ["-m", "uvicorn", "shop.asgi:application", "--http", "h11", "--port", str(port)],
    }
    with run_command(commands[request.param], project, port):
        yield port


class TestDjango(ServingContract):
    """A project under both interfaces."""


def test_a_mistake_stops_the_start(template: Path, tmp_path: Path) -> None:
    """Both `runserver` and the start under another server end with the note."""
    project = make_project(template, tmp_path, policy=MISTAKE)
    for command in (
        ["manage.py", "runserver", "--noreload", str(free_port())],
        ["-c", "import shop.wsgi"],
    ):
        started = subprocess.run(
            [sys.executable, *command], cwd=project, capture_output=True, text=True, timeout=60
        )
        assert started.returncode != 0
        assert "line 2 ('Disalow: /x'): warning RR301 typo" in started.stderr


@pytest.mark.parametrize("written", ["robotrules", None])
def test_a_middleware_without_its_app(template: Path, tmp_path: Path, written: str | None) -> None:
    """The checks are in the app, so every server refuses to start."""
    project = make_project(template, tmp_path, policy=ROBOTS)
    with (project / "shop" / "settings.py").open("a") as file:
        file.write(f"INSTALLED_APPS[-1:] = {[written] if written else []}\n")
    command = [sys.executable, "-c", "import shop.wsgi"]
    started = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)
    assert started.returncode != 0
    assert started.stderr.endswith(
        "ImproperlyConfigured: the middleware of robotrules needs its app: add "
        "'robotrules.integrations.django' to INSTALLED_APPS\n"
    )


# Requests of a test client after a change of the setting, and the view of the page.
RUN_VIEW = """
import json, os, sys
import django
from django.test import Client, RequestFactory, override_settings
from types import SimpleNamespace

os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
django.setup()
names = {}
exec(sys.stdin.read(), names)
crawlers = names["crawlers"]
texts = []
for text in ("User-agent: *\\nDisallow: /x/\\n", "User-agent: *\\nDisallow: /y/\\n"):
    with override_settings(ROBOTRULES={"POLICY": text}, ALLOWED_HOSTS=["testserver"]):
        client = Client(headers={"user-agent": "GPTBot/1.2"})
        texts.append(client.get("/robots.txt").content.decode())
        client.get("/x/1?token=secret")
        request = RequestFactory().get("/crawlers")
        request.user = SimpleNamespace(is_active=True, is_staff=True)
        texts.append(json.loads(crawlers(request).content))
print(json.dumps(texts))
"""


def test_the_view_of_the_page(project: Path) -> None:
    """It shows counts and paths, and `override_settings` changes the policy."""
    page = Path(__file__).parents[2] / "docs" / "integrations" / "django.md"
    (view,) = re.findall(r"^```py\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    command = [sys.executable, "-c", RUN_VIEW]
    ran = subprocess.run(
        command, cwd=project, input=view, capture_output=True, text=True, timeout=60
    )
    assert ran.stderr == ""
    first, disallowed, second, allowed = json.loads(ran.stdout)
    assert ("/x/" in first, "/y/" in second) == (True, True)
    counts = {"robots_txt": 1, "allowed": 0, "disallowed": 1, "paths": ["/x/1"]}
    assert disallowed == {"GPTBot": counts}
    assert allowed == {"GPTBot": counts | {"allowed": 1, "disallowed": 0, "paths": []}}


# Reads a list of settings, and prints what `manage.py check` says of each.
RUN_CHECKS = """
import io, json, os, sys
import django
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.test.utils import override_settings

os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
django.setup()
answers = []
for settings in json.load(sys.stdin):
    shown = io.StringIO()
    with override_settings(**settings):
        try:
            call_command("check", stdout=shown, stderr=shown)
        except SystemCheckError as error:
            shown.write(f"failed: {error}")
    answers.append(shown.getvalue())
print(json.dumps(answers))
"""
WRONG: list[tuple[dict[str, Any] | None, list[str]]] = [
    (None, ["failed", "(robotrules.E001)", "missing setting ROBOTRULES"]),
    ({"": "policy.toml"}, ["failed", "E001", "ROBOTRULES is 'policy.toml': set a dict, such as"]),
    ({"policy": "missing.toml"}, ["failed", "(robotrules.E001)", "cannot be read"]),
    (
        {"q": 1},
        ["failed", "(robotrules.E001)", 'unknown setting ROBOTRULES["Q"]: use POLICY, HOSTS'],
    ),
    (
        {"staging": True},
        ["failed", "(robotrules.E001)", 'missing setting ROBOTRULES["POLICY"]: add "POLICY":'],
    ),
    ({"policy": ""}, ["failed", "(robotrules.E001)", 'ROBOTRULES["POLICY"] is empty: set it to']),
    (
        {"policy": ROBOTS, "staging": "False"},
        ["failed", """ROBOTRULES["STAGING"] is the text 'False': write False without quotes"""],
    ),
    (
        {"policy": ROBOTS, "hosts": ["a"]},
        ["failed", "(robotrules.E001)", 'ROBOTRULES["HOSTS"] has a policy for each host'],
    ),
    (
        {"policy": ROBOTS, "staging": "a"},
        ["failed", "(robotrules.E001)", 'ROBOTRULES["STAGING"] is a list of hosts'],
    ),
    (
        {"policy": ROBOTS, "max_age": "3600"},
        [
            "failed",
            "(robotrules.E001)",
            """ROBOTRULES["MAX_AGE"] is a number of seconds, not '3600'""",
        ],
    ),
    (
        {"policy": ROBOTS, "stagin": []},
        ["failed", """unknown setting ROBOTRULES["STAGIN"]: did you mean 'STAGING'?"""],
    ),
    (
        {"policy": "User-agent: *\nDisallow: /private/\n", "ignore": ["RR510"]},
        [
            "(robotrules.I001) the policy text, line 2 ('Disallow: /private/'): info RR511",
            """HINT: You can accept it with ROBOTRULES["IGNORE"] = ['RR510', 'RR511'].""",
        ],
    ),
    (
        {"policy": MISTAKE},
        [
            *("failed", "(robotrules.E002)", 'ROBOTRULES["IGNORE"]'),
            "line 2 ('Disalow: /x'): warning RR301 typo",
        ],
    ),
    (
        {"policy": MISTAKE, "min_level": "error"},
        ["(robotrules.W001)", "the policy text, line 2 ('Disalow: /x'): warning RR301 typo"],
    ),
    ({"policy": ROBOTS}, ["System check identified no issues"]),
]


OURS = "robotrules.integrations.django.middleware.DjangoRobotsMiddleware"
# What the admin of a new project needs.
OTHERS = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]


def test_checks(project: Path) -> None:
    """Each mistake is a message of `manage.py check`, and not a traceback."""
    settings: list[dict[str, Any]] = [
        {"ROBOTRULES": given[""] if given and "" in given else given and upper(given)}
        for given, _ in WRONG
    ]
    # Without the middleware nothing would be served, and nothing would say so.
    policy = {"POLICY": ROBOTS}
    settings.append({"ROBOTRULES": policy, "MIDDLEWARE": OTHERS})
    settings.append({"ROBOTRULES": policy, "MIDDLEWARE": [*OTHERS, OURS]})
    hosts = dict.fromkeys(("shop.example", "*.shop.example", "blog.example:8000"), ROBOTS)
    staging = ["staging.example", "*.test.example"]
    own = policy | {"HOSTS": hosts, "STAGING": staging}
    for allowed in (["blog.example", ".test.example"], ["*"], ["a.shop.example"]):
        settings.append({"ROBOTRULES": own, "ALLOWED_HOSTS": allowed, "DEBUG": False})
    # As in a new project: Django then allows local hosts.
    local = own | {"STAGING": ["staging.localhost", "127.0.0.1:8000", "[::1]", "staging.example"]}
    settings.append({"ROBOTRULES": local, "ALLOWED_HOSTS": [], "DEBUG": True})
    settings.append({"ROBOTRULES": policy | {"STAGING": True}, "ALLOWED_HOSTS": ["a"]})
    settings.append({"ROBOTRULES": {"policy": ROBOTS}})
    ran = subprocess.run(
        [sys.executable, "-c", RUN_CHECKS],
        cwd=project,
        input=json.dumps(settings),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stderr == ""
    answers = json.loads(ran.stdout)
    without, behind, *by_hosts = answers[len(WRONG) : -1]
    for (given, words), answer in zip(WRONG, answers[: len(WRONG)], strict=True):
        assert [word for word in words if word not in answer] == [], given
        assert ("failed" in words) <= answer.startswith("failed")
    assert "(robotrules.W002)" in without
    assert not without.startswith("failed")
    assert "(robotrules.W003)" in behind
    assert not behind.startswith("failed")
    pattern = re.compile(r"W004\) '(.*?)' is not in ALLOWED_HOSTS")
    assert [set(pattern.findall(shown)) for shown in by_hosts] == [
        {"shop.example", "*.shop.example", "staging.example"},
        set(),
        {"shop.example", "blog.example:8000", "staging.example", "*.test.example"},
        {*hosts, "staging.example"},
        set(),
    ]
    # Messages say what to write, so there is no hint that says it again.
    assert "HINT" not in answers[2]
    assert """["policy"]: did you mean 'POLICY'?""" in answers[-1]


# Prints the files that the autoreloader watches for each of a list of settings.
RUN_WATCHING = """
import json, os, sys
import django
from django.test.utils import override_settings
from django.utils.autoreload import StatReloader, autoreload_started

os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
django.setup()
answers = []
for settings in json.load(sys.stdin):
    reloader = StatReloader()
    with override_settings(ROBOTRULES=settings):
        autoreload_started.send(sender=reloader)
    answers.append(sorted(map(str, reloader.extra_files)))
print(json.dumps(answers))
"""


def test_the_autoreloader_watches_policy_files(template: Path, tmp_path: Path) -> None:
    """Those of all hosts, and the robots.txt that a policy names; a wrong setting has none."""
    project = make_project(template, tmp_path)
    (project / "policy.toml").write_text('robots-txt = "static/robots.txt"\nx = "mistake"\n')
    hosts = {"shop.example": "shop.txt", "text.example": ROBOTS, "wrong.example": 1}
    settings: list[Any] = [
        {"POLICY": "policy.toml", "HOSTS": hosts},
        {"POLICY": ROBOTS, "HOSTS": ["a.example"]},
        {"POLICY": None},
        {"POLCY": "policy.toml"},
        None,
    ]
    ran = subprocess.run(
        [sys.executable, "-c", RUN_WATCHING],
        cwd=project,
        input=json.dumps(settings),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stderr == ""
    files = [str(project / name) for name in ("policy.toml", "shop.txt", "static/robots.txt")]
    assert json.loads(ran.stdout) == [files, [], [], [], []]


@pytest.mark.slow
def test_runserver_restarts_when_the_policy_changes(template: Path, tmp_path: Path) -> None:
    """Also after a mistake, which stops the server until it is corrected."""
    project = make_project(template, tmp_path, policy="policy.toml")
    policy, robots = project / "policy.toml", project / "robots.txt"
    policy.write_text('robots-txt = "robots.txt"\n')
    robots.write_text("User-agent: *\nDisallow: /first/\n")
    port = free_port()
    log = project / "runserver.log"
    with log.open("wb") as output:
        # The reloader runs the server in a process of its own, so both get the signal.
        server = subprocess.Popen(
            [sys.executable, "manage.py", "runserver", str(port)],
            cwd=project,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_for_port(port, server, log)
            assert b"/first/" in request(port, "/robots.txt").body
            robots.write_text("User-agent: *\nDisalow: /second/\n")
            wait_until(lambda: "RR301 typo" in log.read_text(), robots, log)
            robots.write_text("User-agent: *\nDisallow: /second/\n")
            wait_until(lambda: serves(port, b"/second/"), robots, log)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(SECONDS)


def wait_until(holds: Callable[[], bool], file: Path, log: Path) -> None:
    """Return when a condition holds; fail with the output of the server."""
    start = touched = time.monotonic()
    while not holds():
        now = time.monotonic()
        assert now < start + 3 * SECONDS, log.read_text()
        # A change before the first round of the reloader is not noticed.
        if now > touched + 3:
            file.touch()
            touched = now
        time.sleep(0.1)


def serves(port: int, words: bytes) -> bool:
    """Return whether the robots.txt has these words; a server that restarts has none."""
    try:
        return words in request(port, "/robots.txt").body
    except (OSError, HTTPException):
        return False
