"""
One comment on a pull or merge request: written once, and updated by later runs.

A comment starts with a marker, an HTML comment that readers do not see. Only a comment of this
account is updated: anybody can write the marker. The token is sent to the API of the server and
nowhere else: redirects are not followed.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any, NamedTuple

from robotrules.operations.pull_requests.ci_environment import CiEnvironment

__all__ = ["CommentError", "PublishedComment", "publish_comment"]

TIMEOUT = 20.0
LARGEST_RESPONSE = 16 << 20
PER_PAGE = 100
# A pull request with more comments gets a second comment.
MOST_PAGES = 50
# The account of the token that GitHub gives to a workflow. Other apps have comments, too.
WORKFLOW_LOGIN = "github-actions[bot]"
# Beside the API of version 3: https://api.github.com/graphql, or https://HOST/api/graphql.
GRAPHQL = "/graphql"
NOT_PERMITTED = (401, 403, 404)
ADVICE = {
    "github": "grant the job 'pull-requests: write'",
    "gitlab": "use a project access token with the scope 'api' and the role Reporter",
}


class CommentError(Exception):
    """A comment could not be written; the message says why and what to do."""


class PublishedComment(NamedTuple):
    """What was done."""

    action: str
    """`created`, `updated`, `unchanged` or `none`."""
    url: str = ""


def publish_comment(
    given: CiEnvironment, token: str, marker: str, body: str, *, create: bool
) -> PublishedComment:
    """
    Write a comment, or update the one that starts with *marker*.

    Without *create*, a comment is only updated. Raises `CommentError`.
    """
    forge = _Forge(given, token)
    text = f"{marker}\n{body}"
    for comment in forge.comments():
        old = comment.get("body")
        if isinstance(old, str) and old.startswith(marker) and forge.is_own(comment):
            # Forges may change line ends and the white space at the end.
            if old.replace("\r\n", "\n").rstrip() == text.rstrip():
                return PublishedComment("unchanged", forge.url_of(comment))
            return PublishedComment("updated", forge.url_of(forge.update(comment, text)))
    if not create:
        return PublishedComment("none")
    return PublishedComment("created", forge.url_of(forge.create(text)))


class _Forge:
    """The comments of one pull request over the API of GitHub or GitLab."""

    def __init__(self, given: CiEnvironment, token: str) -> None:
        self._given = given
        self._token = token
        self._login: object = None
        self._is_login_known = False
        number, repository = given.number, given.repository
        if given.is_github:
            self._list = f"/repos/{repository}/issues/{number}/comments"
            self._edit = f"/repos/{repository}/issues/comments"
        else:
            self._list = f"/projects/{repository}/merge_requests/{number}/notes"
            self._edit = self._list

    def comments(self) -> Iterator[dict[str, Any]]:
        """Yield the comments of the pull request."""
        for page in range(1, MOST_PAGES + 1):
            found = self._request("GET", f"{self._list}?per_page={PER_PAGE}&page={page}")
            if not isinstance(found, list):
                raise CommentError("the API answered with no list of comments")
            yield from (one for one in found if isinstance(one, dict))
            if len(found) < PER_PAGE:
                return

    def is_own(self, comment: dict[str, Any]) -> bool:
        """Return whether a comment was written with this token."""
        author = comment.get("user" if self._given.is_github else "author")
        if not isinstance(author, dict):
            return False
        if not self._is_login_known:
            self._login, self._is_login_known = self._own_login(), True
        name = author.get("login" if self._given.is_github else "username")
        return isinstance(name, str) and name == self._login

    def create(self, text: str) -> dict[str, Any]:
        """Write a comment."""
        return _as_table(self._request("POST", self._list, {"body": text}))

    def update(self, comment: dict[str, Any], text: str) -> dict[str, Any]:
        """Replace the text of a comment."""
        number = comment.get("id")
        if type(number) is not int:
            raise CommentError("the API answered with a comment without a number")
        method = "PATCH" if self._given.is_github else "PUT"
        return _as_table(self._request(method, f"{self._edit}/{number}", {"body": text}))

    def url_of(self, comment: dict[str, Any]) -> str:
        """Return the URL of a comment for people; empty if the API has none."""
        url = comment.get("html_url")
        return url if isinstance(url, str) and url.startswith(("https://", "http://")) else ""

    def _own_login(self) -> object:
        """Return the name of the account that the token is for."""
        try:
            found = _as_table(self._request("GET", "/user"))
            return found.get("login" if self._given.is_github else "username")
        except CommentError:
            if not self._given.is_github:
                return None
        # The token of an app is refused there, and has a name here.
        try:
            found = _as_table(self._request("POST", GRAPHQL, {"query": "{ viewer { login } }"}))
            return _as_table(_as_table(found.get("data")).get("viewer")).get("login")
        except CommentError:
            return WORKFLOW_LOGIN

    def _request(self, method: str, path: str, value: object = None) -> Any:
        """Return the JSON of a response; raises `CommentError`."""
        headers = {"User-Agent": "robotrules", "Accept": "application/json"}
        if self._given.is_github:
            headers["Accept"] = "application/vnd.github+json"
            headers["X-GitHub-Api-Version"] = "2022-11-28"
            headers["Authorization"] = f"Bearer {self._token}"
        else:
            headers["PRIVATE-TOKEN"] = self._token
        data = None
        if value is not None:
            data = json.dumps(value).encode()
            headers["Content-Type"] = "application/json"
        url = (self._given.api.removesuffix("/v3") if path == GRAPHQL else self._given.api) + path
        try:
            # The URL of the API is http or https, see `ci_environment`.
            request = urllib.request.Request(url, data, headers, method=method)
            with _OPENER.open(request, timeout=TIMEOUT) as response:
                octets = response.read(LARGEST_RESPONSE)
        except urllib.error.HTTPError as error:
            error.close()
            advice = f": {ADVICE[self._given.forge]}" if error.code in NOT_PERMITTED else ""
            raise CommentError(f"{method} answered with status {error.code}{advice}") from None
        except (OSError, HTTPException, ValueError) as error:
            why = getattr(error, "reason", None) or type(error).__name__
            raise CommentError(f"{self._given.api} did not answer: {why}") from None
        try:
            return json.loads(octets)
        except (ValueError, RecursionError):
            raise CommentError("the API answered with no JSON") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects, because they would get the token."""

    def redirect_request(self, *_: Any) -> None:
        """Return nothing, so that the redirect is an error."""
        return


_OPENER = urllib.request.build_opener(_NoRedirects)


def _as_table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CommentError("the API answered with no object")
    return value
