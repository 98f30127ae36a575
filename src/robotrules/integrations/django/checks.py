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
| robotrules.I001 | info | a lint note for information |

Errors stop `runserver` and `migrate`; under another server the middleware stops the start. Nothing
is decided here: `robotrules.serving` lints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning
from django.http.request import validate_host

from robotrules.errors import PolicyError, RobotrulesError
from robotrules.integrations.django.site_settings import SETTING, get_site
from robotrules.linting import LintNote
from robotrules.serving.hosts import normalize_host

# What Django allows with DEBUG = True and ALLOWED_HOSTS = [].
LOCAL_HOSTS = (".localhost", "127.0.0.1", "[::1]")
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
        if not error.notes:  # the message says how to correct the setting or the file
            return [*messages, Error(str(error), id="robotrules.E001")]
        hint = f"To accept them, with those that are accepted already: {_ignore(error.notes)}."
        return [*messages, Error(str(error), hint=hint, id="robotrules.E002")]
    except RobotrulesError as error:
        return [*messages, Error(str(error), id="robotrules.E001")]
    messages += _check_hosts()
    for note, text in zip(site.notes, site.note_messages, strict=True):
        accept = f"accept it with {_ignore([note])}."
        if note.level == "info":
            messages.append(Info(text, hint=f"You can {accept}", id="robotrules.I001"))
        else:
            hint = f"Correct the policy, or {accept}"
            messages.append(Warning(text, hint=hint, id="robotrules.W001"))
    return messages


def _check_hosts() -> Iterator[CheckMessage]:
    """Yield a warning for each host with its own policy whose requests do not get it."""
    allowed = settings.ALLOWED_HOSTS
    if settings.DEBUG and not allowed:
        allowed = LOCAL_HOSTS
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
    accepted = getattr(settings, SETTING).get("IGNORE", ())
    codes = list(dict.fromkeys([*accepted, *(note.code for note in notes)]))
    return f'{SETTING}["IGNORE"] = {codes}'
