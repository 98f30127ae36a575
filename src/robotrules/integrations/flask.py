"""
Flask extension: /robots.txt, tag fields and Content-Usage of a policy.

    RobotRules(app)            # app.config["ROBOTRULES_POLICY"] = "policy.toml"

Settings are read when the application is created, so a mistake in the policy stops the start. A
relative path starts at the folder of the application. The extension wraps `app.wsgi_app`, so that
its fields are on every response: of views, static files and error pages.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from robotrules.errors import MissingExtraError, PolicyError
from robotrules.integrations.wsgi import WsgiRobotsMiddleware
from robotrules.serving import SitePolicy
from robotrules.serving.settings import SettingNames, make_site, read_arguments

try:
    from flask import Flask, current_app
except ImportError:
    raise MissingExtraError("flask is not installed: pip install 'robotrules[flask]'") from None

__all__ = ["RobotRules"]

NAMES = SettingNames("ROBOTRULES_{}", "ROBOTRULES_{}")
# Of names that are nearly those of settings: `ROBOTRULE_POLICY`.
SIMILAR = 0.9
EXTENSION = "robotrules"


class RobotRules:
    """The extension. Pass the application, or call `init_app` later."""

    def __init__(self, app: Flask | None = None, site: SitePolicy | None = None) -> None:
        """Use *site*, or the settings of the application if there is none."""
        self._site = site
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Serve the policy of an application. Raises `PolicyError` if it has a mistake."""
        if not isinstance(app, Flask):
            name = type(app).__name__
            raise TypeError(f"app is a Flask application, not {name}: pass Flask(__name__)")
        if EXTENSION in app.extensions:
            raise RuntimeError(f"RobotRules is already set up for {app.name!r}: remove one call")
        if self._site and (ignored := sorted(_find_settings(app))):
            raise PolicyError(
                f"{ignored[0]} has no effect beside RobotRules(site=...): remove the setting, or "
                "pass the value to SitePolicy"
            )
        site = self._site or _make_site(app)
        app.extensions[EXTENSION] = site
        app.wsgi_app = WsgiRobotsMiddleware(app.wsgi_app, site)  # type: ignore[method-assign]

    @property
    def site(self) -> SitePolicy:
        """The policy of the current application, with its counters."""
        site: SitePolicy | None = current_app.extensions.get(EXTENSION)
        if site is None:
            raise RuntimeError(f"RobotRules is not set up for {current_app.name!r}: call init_app")
        return site


def _make_site(app: Flask) -> SitePolicy:
    given = _find_settings(app)
    key = NAMES.key.format("POLICY")
    missing = f'set app.config["{key}"] = "policy.toml" before RobotRules(app)'
    return make_site(read_arguments(given, NAMES, app.root_path, missing), NAMES)


def _find_settings(app: Flask) -> dict[str, Any]:
    """Return the settings; raise an error for one whose name nearly has the prefix."""
    prefix = NAMES.key.format("")
    for name in app.config:
        similar = get_close_matches(name.upper(), NAMES.keys(), 1, SIMILAR)
        if similar and not name.startswith(prefix):
            raise PolicyError(f"unknown setting {name}: did you mean {similar[0]!r}?")
    return {name: value for name, value in app.config.items() if name.startswith(prefix)}
