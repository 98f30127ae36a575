"""
Flask extension: /robots.txt, tag fields and Content-Usage of a policy.

    RobotRules(app)            # app.config["ROBOTRULES_POLICY"] = "policy.toml"

Settings are read when the application is created, so a mistake in the policy stops the start. A
relative path starts at the folder of the application. The extension wraps `app.wsgi_app`, so that
its fields are on every response: of views, static files and error pages.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from robotrules.errors import MissingExtraError
from robotrules.integrations.wsgi import WsgiRobotsMiddleware
from robotrules.serving import SitePolicy

try:
    from flask import Flask, current_app
except ImportError:
    raise MissingExtraError("flask is not installed: pip install 'robotrules[flask]'") from None

__all__ = ["RobotRules"]

# Settings with the arguments of `SitePolicy`.
SETTINGS = {
    "ROBOTRULES_POLICY": "policy",
    "ROBOTRULES_HOSTS": "hosts",
    "ROBOTRULES_STAGING": "staging",
    "ROBOTRULES_MAX_AGE": "max_age",
    "ROBOTRULES_MIN_LEVEL": "min_level",
    "ROBOTRULES_IGNORE": "ignore",
}
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
    for name in app.config:
        if name.startswith("ROBOTRULES_") and name not in SETTINGS:
            known = ", ".join(SETTINGS)
            raise ValueError(f"there is no setting {name}; there are {known}")
    if "ROBOTRULES_POLICY" not in app.config:
        raise ValueError("missing setting ROBOTRULES_POLICY: set it to the path of a policy.toml")
    arguments: dict[str, Any] = {
        argument: app.config[name] for name, argument in SETTINGS.items() if name in app.config
    }
    arguments["policy"] = _find_file(app, arguments["policy"])
    hosts = arguments.get("hosts")
    if isinstance(hosts, dict):
        arguments["hosts"] = {host: _find_file(app, source) for host, source in hosts.items()}
    return SitePolicy(**arguments)


def _find_file(app: Flask, source: Any) -> Any:
    """Return a path that starts at the folder of the application; a text as it is."""
    if isinstance(source, str) and "\n" in source:
        return source
    if isinstance(source, (str, os.PathLike)):
        path = Path(app.root_path, source)
        return str(path) if isinstance(source, str) else path
    return source
