"""
The add-on that enables the middlewares, and the check of the reactor.

The add-on has the priority of add-ons: the settings of a project, a spider and the command line
override it. The client is described in `client_settings`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.utils.reactor import is_asyncio_reactor_installed

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_HERE = "robotrules.integrations.scrapy"
_SCRAPYS_OWN = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
_ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
# Where Scrapy's own middleware is: before all others that change a request.
_POSITION = 100
# After all others that set header fields: packages that rotate User-Agents are at 400 to 700.
_LATE_POSITION = 840


class Addon:
    """Enables the downloader middlewares, and `DropNoindexMiddleware` if a setting asks for it."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Change the settings of a crawler that the project does not set itself."""
        middlewares = settings["DOWNLOADER_MIDDLEWARES"]
        middlewares.set(_SCRAPYS_OWN, None, "addon")
        middlewares.set(f"{_HERE}.RobotsTxtMiddleware", _POSITION, "addon")
        middlewares.set(f"{_HERE}.SentUserAgentMiddleware", _LATE_POSITION, "addon")
        settings.set("ROBOTSTXT_OBEY", True, "addon")
        # Without a project, the default of Scrapy 2.12 is another reactor.
        settings.set("TWISTED_REACTOR", _ASYNCIO, "addon")
        if settings.getbool("ROBOTRULES_DROP_NOINDEX"):
            settings["SPIDER_MIDDLEWARES"].set(f"{_HERE}.DropNoindexMiddleware", 10, "addon")


def require_asyncio() -> None:
    """Raise a RuntimeError unless the crawler runs on an asyncio event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if not is_asyncio_reactor_installed():
            raise RuntimeError(
                f"{_HERE}.RobotsTxtMiddleware needs the asyncio reactor: set TWISTED_REACTOR = "
                f"'{_ASYNCIO}', or call scrapy.utils.reactor.install_reactor() with it before the "
                "first import of twisted.internet.reactor"
            ) from None
