"""The Django app, in a project of `startproject` that runserver (WSGI) and uvicorn (ASGI) serve."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving.loopback_servers import free_port, run_command
from tests.serving.serving_contract import MISTAKE, SETTINGS, ServingContract

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
        "uvicorn": ["-m", "uvicorn", "shop.asgi:application", "--port", str(port)],
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
ROBOTS = "User-agent: *\nDisallow:\n"
WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["failed", "(robotrules.E001)", "missing setting ROBOTRULES"]),
    ({"policy": "missing.toml"}, ["failed", "(robotrules.E001)", "cannot be read"]),
    ({"policy": ROBOTS, "polcy": ""}, ["(robotrules.E001)", "ROBOTRULES has no key 'POLCY'"]),
    (
        {"policy": ROBOTS, "hosts": ["a"]},
        ["failed", "(robotrules.E001)", "hosts has a policy for each host"],
    ),
    (
        {"policy": ROBOTS, "staging": "a"},
        ["failed", "(robotrules.E001)", "staging is a list of hosts"],
    ),
    (
        {"policy": MISTAKE},
        [
            *("failed", "(robotrules.E002)", 'ROBOTRULES["IGNORE"]'),
            "line 2 ('Disalow: /x'): warning RR301 typo",
        ],
    ),
    ({"policy": MISTAKE, "min_level": "error"}, ["(robotrules.W001)", "RR301"]),
    ({"policy": ROBOTS}, ["System check identified no issues"]),
]


# What the admin of a new project needs.
OTHERS = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]


def test_checks(project: Path) -> None:
    """Each mistake is a message of `manage.py check`, and not a traceback."""
    settings: list[dict[str, Any]] = [{"ROBOTRULES": upper(given)} for given, _ in WRONG]
    # Without the middleware nothing would be served, and nothing would say so.
    settings.append({"ROBOTRULES": {"POLICY": ROBOTS}, "MIDDLEWARE": OTHERS})
    ran = subprocess.run(
        [sys.executable, "-c", RUN_CHECKS],
        cwd=project,
        input=json.dumps(settings),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stderr == ""
    *answers, without = json.loads(ran.stdout)
    for (given, words), answer in zip(WRONG, answers, strict=True):
        assert [word for word in words if word not in answer] == [], given
        assert ("failed" in words) <= answer.startswith("failed")
    assert "(robotrules.W002)" in without
    assert not without.startswith("failed")
