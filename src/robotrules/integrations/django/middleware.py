"""
Django middleware: /robots.txt, tag fields and Content-Usage of the policy in the settings.

For synchronous and asynchronous views. It is the first entry of MIDDLEWARE, so that redirects and
error pages of other middleware have the fields too. Making it raises `PolicyError` if the policy
has a mistake, and `ImproperlyConfigured` without the app in INSTALLED_APPS, which stops the start
under every server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.apps import apps
from django.core.exceptions import DisallowedHost, ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from robotrules.integrations.django.site_settings import get_site
from robotrules.serving import ROBOTS_PATH, ResponseFields

APP = "robotrules.integrations.django"
# Fields that an application may send itself.
_NAMES = ("Robots-Tag", "X-Robots-Tag", "Content-Usage")


class DjangoRobotsMiddleware:
    """Serves the robots.txt of the policy, and adds its fields to responses."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        if not apps.is_installed(APP):  # its checks would be missing, and nothing would say so
            raise ImproperlyConfigured(
                f"the middleware of robotrules needs its app: add {APP!r} to INSTALLED_APPS"
            )
        self.get_response = get_response
        self._is_async = iscoroutinefunction(get_response)
        self._site = get_site()
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Handle a request."""
        if self._is_async:
            return self._respond_async(request)
        answer = self._answer(request)
        if isinstance(answer, HttpResponse):
            return answer
        return _add_fields(self.get_response(request), answer)

    async def _respond_async(self, request: HttpRequest) -> HttpResponseBase:
        answer = self._answer(request)
        if isinstance(answer, HttpResponse):
            return answer
        return _add_fields(await self.get_response(request), answer)

    def _answer(self, request: HttpRequest) -> HttpResponse | ResponseFields:
        """Return the robots.txt, or the fields for another response."""
        user_agent = request.headers.get("User-Agent", "")
        # `path` includes the prefix of a mounted application: only the top of an origin counts.
        if request.path != ROBOTS_PATH:
            target = request.get_full_path()
            return self._site.record_request(target, _find_host(request), user_agent)
        response = self._site.robots_response(
            request.method or "GET",
            _find_host(request),
            if_none_match=request.headers.get("If-None-Match", ""),
            user_agent=user_agent,
        )
        found = HttpResponse(response.body, status=response.status)
        del found.headers["Content-Type"]  # a default, which a 304 does not have
        for name, value in ResponseFields().joined(response.headers):
            found.headers[name] = value
        return found


def _find_host(request: HttpRequest) -> str:
    """Return the host of a request; empty if it is not one of ALLOWED_HOSTS."""
    try:
        host: str = request.get_host()
    except DisallowedHost:
        return ""
    return host


def _add_fields(response: HttpResponseBase, fields: ResponseFields) -> HttpResponseBase:
    """Add fields to a response; Django has one line for each field."""
    if fields:
        sent = [(name, response.headers[name]) for name in _NAMES if name in response.headers]
        for name, value in fields.joined(sent):
            response.headers[name] = value
    return response
