"""
Setting values: the settings that begin with `ROBOTRULES_`, read and checked.

A wrong setting stops the crawl with an error that names it: a crawl that starts without what its
settings say would not obey what its user thinks it obeys. The settings are listed in
docs/integrations/scrapy.md.
"""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robotrules.client.aio import AsyncClient
from robotrules.client.ssrf import ALLOW_OPTION
from robotrules.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

SETTINGS = (
    "ROBOTRULES_ALLOW_PRIVATE",
    "ROBOTRULES_CLIENT_OPTIONS",
    "ROBOTRULES_DROP_NOINDEX",
    "ROBOTRULES_MAX_DELAY",
    "ROBOTRULES_PROFILE",
    "ROBOTRULES_PROXY",
    "ROBOTRULES_STORE",
    "ROBOTRULES_TIMEOUT",
)
# Arguments of the client that other settings of Scrapy describe, or the middleware itself.
_SET_ELSEWHERE = {"user_agent": "USER_AGENT", "product_token": "ROBOTSTXT_USER_AGENT"}


def vet_names(settings: BaseSettings) -> None:
    """Raise a ConfigError for a setting whose name begins like ours and is not one of ours."""
    for name in settings:
        if str(name).startswith("ROBOTRULES_") and name not in SETTINGS:
            raise ConfigError(f"unknown setting {name}: {_find_fix(str(name))}")


def _find_fix(name: str) -> str:
    option = name.removeprefix("ROBOTRULES_").lower()
    if option in _client_arguments():
        return f"set ROBOTRULES_CLIENT_OPTIONS = {{{option!r}: ...}}"
    similar = difflib.get_close_matches(name, SETTINGS, 1)
    return f"did you mean {similar[0]}?" if similar else f"use one of {', '.join(SETTINGS)}"


def _client_arguments() -> set[str]:
    return set(inspect.signature(AsyncClient).parameters) - {"on_fetch"}


def name_setting(detail: str) -> str:
    """Return a detail of the client with the name of the setting in place of the argument."""
    return detail.replace(ALLOW_OPTION, "set ROBOTRULES_ALLOW_PRIVATE = ")


def read_seconds(settings: BaseSettings, name: str, default: float) -> float:
    """Return a setting in seconds."""
    value = settings.get(name, default)
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not seconds >= 0 or isinstance(value, bool):
        raise ConfigError(f"{name} = {value!r:.80}: set a number of seconds, such as {default:g}")
    return seconds


def read_client_options(settings: BaseSettings) -> dict[str, Any]:
    """Return ROBOTRULES_CLIENT_OPTIONS: further arguments of `robotrules.AsyncClient`."""
    name = "ROBOTRULES_CLIENT_OPTIONS"
    try:
        options = dict(settings.getdict(name))
    except (TypeError, ValueError):
        raise ConfigError(
            f"{name} = {settings[name]!r:.80}: set a dict, such as {{'connections': 10}}"
        ) from None
    known = _client_arguments()
    for option in options:
        if option in _SET_ELSEWHERE:
            raise ConfigError(f"{name} has {option!r}: set {_SET_ELSEWHERE[option]} instead")
        if option not in known:
            accepted = sorted(known - set(_SET_ELSEWHERE))
            similar = difflib.get_close_matches(str(option), accepted, 1)
            fix = f"did you mean {similar[0]!r}?" if similar else f"use {', '.join(accepted)}"
            raise ConfigError(f"{name} has the unknown option {option!r}: {fix}")
    return options


def name_culprit(error: Exception, client_options: Mapping[str, Any]) -> ConfigError:
    """Return the error of a client with the name of the setting whose value it refuses."""
    message = str(error)
    # The argument is the first word of most messages; a value could look like another argument.
    first = message.partition(" ")[0]
    prefix = "ROBOTRULES_"
    arguments = {name.removeprefix(prefix).lower(): name for name in SETTINGS}
    where = first if first in {*client_options, *arguments} else message
    in_options = [option for option in client_options if option in where]
    own = [name for argument, name in arguments.items() if argument in where]
    name = f"{prefix}CLIENT_OPTIONS" if in_options or not own else own[0]
    # Without the value: that of a proxy or of a store may have a password.
    return ConfigError(f"{name}: {message}")
