"""
System checks of the Django app: `manage.py check` reports mistakes in the policy.

| id | level | meaning |
|---|---|---|
| robotrules.E001 | error | a setting is invalid, or the policy cannot be read |
| robotrules.E002 | error | a note of lint of at least MIN_LEVEL |
| robotrules.W001 | warning | a lint warning below MIN_LEVEL |
| robotrules.W002 | warning | the middleware is missing |
| robotrules.W003 | warning | the middleware is not the first one |
| robotrules.W004 | warning | a host with its own policy is not in ALLOWED_HOSTS |

Errors stop `runserver` and `migrate`; under another server the middleware stops the start. Nothing
is decided here: `robotrules.serving` lints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.http.request import validate_host

from robotrules.errors import PolicyError, RobotrulesError
from robotrules.integrations.django.site_settings import KEYS, SETTING, get_site
from robotrules.linting import LintNote
from robotrules.serving.hosts import normalize_host

MIDDLEWARE = "robotrules.integrations.django.middleware.DjangoRobotsMiddleware"


def check_policy(app_configs: Any = None, **options: Any) -> list[CheckMessage]:
    """Return messages about the policy of the settings."""
    messages: list[CheckMessage] = []
    if MIDDLEWARE not in settings.MIDDLEWARE:
        hint = f"Add {MIDDLEWARE!r} as the first entry of MIDDLEWARE."
        words = "robotrules is installed, but its middleware is not: nothing is served."
        messages.append(Warning(words, hint=hint, id="robotrules.W002"))
    elif settings.MIDDLEWARE[0] != MIDDLEWARE:
        hint = f"Move {MIDDLEWARE!r} to the start of MIDDLEWARE."
        words = (
            "The middleware of robotrules is not the first one: redirects and error pages of those "
            "before it lack its fields, and an SSL redirect also applies to /robots.txt."
        )
        messages.append(Warning(words, hint=hint, id="robotrules.W003"))
    try:
        site = get_site()
    except PolicyError as error:
        if not error.notes:
            return [*messages, Error(_name_setting(error), hint=_HINT, id="robotrules.E001")]
        hint = f"In Django this setting is {_ignore(error.notes)}."
        return [*messages, Error(str(error), hint=hint, id="robotrules.E002")]
    except (RobotrulesError, TypeError) as error:
        return [*messages, Error(_name_setting(error), hint=_HINT, id="robotrules.E001")]
    messages += _check_hosts()
    for note, text in zip(site.notes, site.note_messages, strict=True):
        if note.level != "info":
            hint = f"Correct the policy, or accept it with {_ignore([note])}."
            messages.append(Warning(text, hint=hint, id="robotrules.W001"))
    return messages


_HINT = f"Correct the setting {SETTING} or its policy file."


def _name_setting(error: Exception) -> str:
    """Return a message with the name of the setting, if it begins with that of an argument."""
    name, blank, rest = str(error).partition(" ")
    return f'{SETTING}["{name.upper()}"]{blank}{rest}' if name.upper() in KEYS else str(error)


def _check_hosts() -> Iterator[CheckMessage]:
    """Yield a warning for each host with its own policy whose requests do not get it."""
    allowed = settings.ALLOWED_HOSTS
    if settings.DEBUG and not allowed:  # Django then allows localhost only
        return
    given = getattr(settings, SETTING)
    staging = given.get("STAGING", ())
    names = [*given.get("HOSTS", ()), *(() if isinstance(staging, bool) else staging)]
    for name in dict.fromkeys(names):
        host = normalize_host(name.removeprefix("*.")) or ""
        if name.startswith("*."):
            below = f".{host}"
            is_allowed = validate_host(f"any{below}", allowed)
            is_allowed = is_allowed or any(other.lower().endswith(below) for other in allowed)
        else:
            is_allowed = validate_host(host, allowed)
        if not is_allowed:
            words = f"{name!r} is not in ALLOWED_HOSTS: its requests get the robots.txt of POLICY."
            hint = f"Add it to ALLOWED_HOSTS, or remove it from {SETTING}."
            yield Warning(words, hint=hint, id="robotrules.W004")


def _ignore(notes: Sequence[LintNote]) -> str:
    codes = list(dict.fromkeys(note.code for note in notes))
    return f'{SETTING}["IGNORE"] = {codes}'
