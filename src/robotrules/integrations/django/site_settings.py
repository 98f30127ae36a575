"""
Settings of the Django app: the policy of `settings.ROBOTRULES`, made once.

Keys are the arguments of `SitePolicy` in upper case. A relative path starts at `BASE_DIR`, if the
settings have it. The policy is made again after a change of the setting in a test; `runserver`
restarts when a policy file changes.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from robotrules.errors import PolicyError
from robotrules.serving import SitePolicy
from robotrules.serving.policy_source import find_policy_files
from robotrules.serving.settings import SettingNames, make_site, read_arguments

SETTING = "ROBOTRULES"
NAMES = SettingNames("{}", f'{SETTING}["{{}}"]')
_EXAMPLE = '{"POLICY": BASE_DIR / "policy.toml"}'
_MISSING = 'add "POLICY": BASE_DIR / "policy.toml"'


@cache
def get_site() -> SitePolicy:
    """Return the policy of the settings, with its counters. Raises PolicyError for a mistake."""
    return make_site(read_settings(), NAMES)


def read_settings() -> dict[str, Any]:
    """Return the arguments of `SitePolicy`."""
    given = getattr(settings, SETTING, None)
    if given is None:
        raise PolicyError(f"missing setting {SETTING}: add {SETTING} = {_EXAMPLE}")
    if not isinstance(given, dict):
        raise PolicyError(f"{SETTING} is {given!r:.60}: set a dict, such as {_EXAMPLE}")
    return read_arguments(given, NAMES, getattr(settings, "BASE_DIR", None), _MISSING)


def watch_files(sender: Any, **others: Any) -> None:
    """Add the policy files to those that an autoreloader watches, also if they have a mistake."""
    try:
        arguments = read_settings()
    except PolicyError:  # a mistake in settings.py, which is watched itself
        return
    hosts = arguments.get("hosts")
    for source in (arguments["policy"], *(hosts.values() if isinstance(hosts, dict) else ())):
        if isinstance(source, (str, os.PathLike)):
            sender.extra_files.update(file.absolute() for file in find_policy_files(source))


def _forget(*, setting: str, **others: Any) -> None:
    if setting in (SETTING, "BASE_DIR"):
        get_site.cache_clear()


setting_changed.connect(_forget, dispatch_uid="robotrules")
