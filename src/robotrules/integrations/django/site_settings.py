"""
Settings of the Django app: the policy of `settings.ROBOTRULES`, made once.

Keys are the arguments of `SitePolicy` in upper case. A relative path starts at `BASE_DIR`, if the
settings have it. The policy is made again after a change of the setting in a test; `runserver`
restarts when a policy file changes.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from robotrules.errors import PolicyError
from robotrules.serving import SitePolicy
from robotrules.serving.policy_source import find_policy_files

SETTING = "ROBOTRULES"
_EXAMPLE = '{"POLICY": BASE_DIR / "policy.toml"}'
KEYS = ("POLICY", "HOSTS", "STAGING", "MAX_AGE", "MIN_LEVEL", "IGNORE")


@cache
def get_site() -> SitePolicy:
    """Return the policy of the settings, with its counters. Raises PolicyError for a mistake."""
    return SitePolicy(**read_settings())


def read_settings(**changes: Any) -> dict[str, Any]:
    """Return the arguments of `SitePolicy`."""
    given = getattr(settings, SETTING, None)
    if given is None:
        raise PolicyError(f"missing setting {SETTING}: add {SETTING} = {_EXAMPLE}")
    if not isinstance(given, dict):
        raise PolicyError(f"{SETTING} is {given!r:.60}: set a dict, such as {_EXAMPLE}")
    for key in given:
        if key not in KEYS:
            similar = get_close_matches(str(key), KEYS, 1)
            fix = f"did you mean {similar[0]!r}?" if similar else f"the keys are {', '.join(KEYS)}"
            raise PolicyError(f"{SETTING}: unknown key {key!r}; {fix}")
    if "POLICY" not in given:
        raise PolicyError(f'{SETTING}: missing key: add "POLICY": BASE_DIR / "policy.toml"')
    arguments = {key.lower(): value for key, value in given.items()} | changes
    arguments["policy"] = _find_file(arguments["policy"])
    hosts = arguments.get("hosts")
    if isinstance(hosts, dict):
        arguments["hosts"] = {host: _find_file(source) for host, source in hosts.items()}
    return arguments


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


def _find_file(source: Any) -> Any:
    is_text = isinstance(source, str) and "\n" in source
    folder = getattr(settings, "BASE_DIR", None)
    if folder is None or is_text or not isinstance(source, (str, os.PathLike)):
        return source
    path = Path(folder) / source
    return str(path) if isinstance(source, str) else path


def _forget(*, setting: str, **others: Any) -> None:
    if setting in (SETTING, "BASE_DIR"):
        get_site.cache_clear()


setting_changed.connect(_forget, dispatch_uid="robotrules")
