"""
Settings of frameworks: the arguments of `SitePolicy` in upper case, as `ROBOTRULES["POLICY"]` or
`ROBOTRULES_POLICY`.

A framework passes what its users wrote, its names for the settings, and the folder where relative
paths start. Each mistake is a `PolicyError` with the name that the user knows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from robotrules.errors import CheckError, PolicyError
from robotrules.serving.site_policy import SitePolicy, require_argument_types

ARGUMENTS = ("policy", "hosts", "staging", "max_age", "min_level", "ignore")
_FIRST_WORD = re.compile(rf"\A({'|'.join(ARGUMENTS)})(?=[ :\[])")


class SettingNames(NamedTuple):
    """How a framework names a setting; `{}` is the argument in upper case."""

    key: str
    """As it is written: `{}` in a dict of its own, `ROBOTRULES_{}` among other settings."""
    label: str
    """In messages: `ROBOTRULES["{}"]`."""

    def keys(self) -> tuple[str, ...]:
        """Return all settings, as they are written."""
        return tuple(self.key.format(name.upper()) for name in ARGUMENTS)

    def name(self, argument: str) -> str:
        """Return the name of a setting for messages."""
        return self.label.format(argument.upper())

    def rename(self, message: str) -> str:
        """Return a message that begins with an argument with the name of the setting."""
        return _FIRST_WORD.sub(lambda found: self.name(found[1]), message, count=1)


def read_arguments(
    given: Mapping[Any, Any],
    names: SettingNames,
    folder: str | os.PathLike[str] | None,
    missing: str,
) -> dict[str, Any]:
    """
    Return the arguments of `SitePolicy`; *missing* says how to set a policy.

    Their types are not checked.
    """
    keys = names.keys()
    for key in given:
        if key not in keys:
            raise PolicyError(_describe_unknown(str(key), names))
    arguments = {
        argument: given[key] for argument, key in zip(ARGUMENTS, keys, strict=True) if key in given
    }
    if "policy" not in arguments:
        raise PolicyError(f"missing setting {names.name('policy')}: {missing}")
    arguments["policy"] = _find_file(arguments["policy"], names.name("policy"), folder)
    hosts = arguments.get("hosts")
    if isinstance(hosts, Mapping):
        label = names.name("hosts")
        arguments["hosts"] = {
            host: _find_file(source, f"{label}[{host!r}]", folder) for host, source in hosts.items()
        }
    return arguments


def make_site(arguments: Mapping[str, Any], names: SettingNames) -> SitePolicy:
    """Return the policy of some settings. Raises `PolicyError` for every mistake in them."""
    try:
        require_argument_types(**arguments)
    except TypeError as error:
        raise PolicyError(names.rename(str(error))) from None
    try:
        return SitePolicy(**arguments)
    except PolicyError as error:
        message = names.rename(str(error))
        if error.notes:
            message = message.replace("the setting ignore=", f"{names.name('ignore')} = ")
        raise PolicyError(message, error.notes) from None
    except CheckError as error:  # an unknown name in `ignore`
        raise PolicyError(names.rename(str(error))) from None


def _describe_unknown(key: str, names: SettingNames) -> str:
    # A common prefix would make all names similar.
    own = key.removeprefix(names.key.format(""))
    similar = get_close_matches(own.lower(), ARGUMENTS, 1)
    known = ", ".join(names.keys())
    fix = f"did you mean {names.key.format(similar[0].upper())!r}?" if similar else f"use {known}"
    return f"unknown setting {names.label.format(own)}: {fix}"


def _find_file(source: Any, label: str, folder: str | os.PathLike[str] | None) -> Any:
    """Return a path that starts at a folder; a text, or a value of another type, unchanged."""
    if isinstance(source, str) and not source.strip():
        raise PolicyError(f"{label} is empty: set it to the path of a policy, 'policy.toml'")
    is_text = isinstance(source, str) and "\n" in source
    if folder is None or is_text or not isinstance(source, (str, os.PathLike)):
        return source
    path = Path(folder, source)
    return str(path) if isinstance(source, str) else path
