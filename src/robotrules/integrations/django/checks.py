"""
System checks of the Django app: `manage.py check` reports mistakes in the policy.

| id | level | meaning |
|---|---|---|
| robotrules.E001 | error | a setting is invalid, or the policy cannot be read |
| robotrules.E002 | error | a note of lint of at least MIN_LEVEL |
| robotrules.W001 | warning | a lint warning below MIN_LEVEL |
| robotrules.W002 | warning | the middleware is missing |

Errors stop `runserver` and `migrate`; under another server the middleware stops the start. Nothing
is decided here: `robotrules.serving` lints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from robotrules.errors import PolicyError, RobotrulesError
from robotrules.integrations.django.site_settings import SETTING, get_site
from robotrules.linting import LintNote

MIDDLEWARE = "robotrules.integrations.django.middleware.DjangoRobotsMiddleware"


def check_policy(app_configs: Any = None, **options: Any) -> list[CheckMessage]:
    """Return messages about the policy of the settings."""
    messages: list[CheckMessage] = []
    if MIDDLEWARE not in settings.MIDDLEWARE:
        hint = f"Add {MIDDLEWARE!r} as the first entry of MIDDLEWARE."
        words = "robotrules is installed, but its middleware is not: nothing is served."
        messages.append(Warning(words, hint=hint, id="robotrules.W002"))
    try:
        site = get_site()
    except PolicyError as error:
        if not error.notes:
            return [*messages, Error(str(error), hint=_HINT, id="robotrules.E001")]
        hint = f"In Django this setting is {_ignore(error.notes)}."
        return [*messages, Error(str(error), hint=hint, id="robotrules.E002")]
    except (RobotrulesError, TypeError) as error:
        return [*messages, Error(str(error), hint=_HINT, id="robotrules.E001")]
    for note, text in zip(site.notes, site.note_messages, strict=True):
        if note.level != "info":
            hint = f"Correct the policy, or accept it with {_ignore([note])}."
            messages.append(Warning(text, hint=hint, id="robotrules.W001"))
    return messages


_HINT = f"Correct the setting {SETTING} or its policy file."


def _ignore(notes: Sequence[LintNote]) -> str:
    codes = list(dict.fromkeys(note.code for note in notes))
    return f'{SETTING}["IGNORE"] = {codes}'
