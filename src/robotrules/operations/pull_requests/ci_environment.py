"""
The environment of a CI run: which forge, which pull request, and with what a change is compared.

GitHub Actions describes an event in a JSON file, GitLab CI in variables. Both are validated: a
commit is hexadecimal, a repository is `owner/name`, a number is a number. What is not valid is
treated as missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["CiEnvironment", "read_environment"]

GITHUB, GITLAB = "github", "gitlab"
# GitHub limits an event to 25 MiB.
LARGEST_EVENT = 32 << 20
# It runs with the secrets of the repository, also for a pull request from a fork.
WITH_SECRETS = "pull_request_target"
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
# Stands for "no commit": the base of a new branch.
_NO_COMMIT = re.compile(r"0+")


class CiEnvironment(NamedTuple):
    """What a CI server says about the run."""

    forge: str = ""
    """`github`, `gitlab`, or empty: no CI server that is known here."""
    number: int | None = None
    """The number of the pull request; None: there is none."""
    base: str | None = None
    """The commit that the change is compared with, as the server names it."""
    head: str | None = None
    """The last commit of the pull request."""
    repository: str = ""
    """`owner/name` on GitHub, the number of the project on GitLab."""
    is_fork: bool = False
    """Whether the pull request is from another repository, so that the token cannot comment."""
    api: str = ""
    """The URL of the API."""
    summary: str | None = None
    """The file for the summary of the job."""
    outputs: str | None = None
    """The file for the outputs of the step."""
    has_secrets: bool = False
    """Whether the run has secrets that the author of the change must not have."""

    @property
    def is_github(self) -> bool:
        """Whether this is a run of GitHub Actions."""
        return self.forge == GITHUB


def read_environment(variables: Mapping[str, str]) -> CiEnvironment:
    """Return the environment that variables describe; without a CI server, an empty one."""
    if variables.get("GITHUB_ACTIONS") == "true":
        return _github(variables)
    if variables.get("GITLAB_CI") == "true":
        return _gitlab(variables)
    return CiEnvironment()


def _github(variables: Mapping[str, str]) -> CiEnvironment:
    event = _read_event(variables.get("GITHUB_EVENT_PATH", ""))
    repository = variables.get("GITHUB_REPOSITORY", "")
    found = CiEnvironment(
        GITHUB,
        repository=repository if _REPOSITORY.fullmatch(repository) else "",
        api=_api(variables.get("GITHUB_API_URL", ""), "https://api.github.com"),
        summary=variables.get("GITHUB_STEP_SUMMARY") or None,
        outputs=variables.get("GITHUB_OUTPUT") or None,
    )
    kind = variables.get("GITHUB_EVENT_NAME")
    if kind != "pull_request":
        before = _commit(event.get("before"))
        return found._replace(base=before, has_secrets=kind == WITH_SECRETS)
    pull = _table(event, "pull_request")
    number = pull.get("number")
    head, base = _table(pull, "head"), _table(pull, "base")
    # The repository of a fork is null after it was deleted.
    source = _table(head, "repo").get("full_name")
    return found._replace(
        number=number if type(number) is int and number > 0 else None,
        base=_commit(base.get("sha")),
        head=_commit(head.get("sha")),
        is_fork=source != _table(base, "repo").get("full_name", repository),
    )


def _gitlab(variables: Mapping[str, str]) -> CiEnvironment:
    number = variables.get("CI_MERGE_REQUEST_IID", "")
    project = variables.get("CI_MERGE_REQUEST_PROJECT_ID") or variables.get("CI_PROJECT_ID", "")
    source = variables.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", project)
    base = variables.get("CI_MERGE_REQUEST_DIFF_BASE_SHA") or variables.get("CI_COMMIT_BEFORE_SHA")
    return CiEnvironment(
        GITLAB,
        number=int(number) if number.isascii() and number.isdigit() else None,
        base=_commit(base),
        head=_commit(variables.get("CI_COMMIT_SHA")),
        repository=project if project.isascii() and project.isdigit() else "",
        is_fork=source != project,
        api=_api(variables.get("CI_API_V4_URL", ""), "https://gitlab.com/api/v4"),
    )


def _read_event(path: str) -> dict[str, Any]:
    """Return the event; empty if there is none or it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            value = json.loads(file.read(LARGEST_EVENT))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _table(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _commit(value: object) -> str | None:
    if not isinstance(value, str) or not _COMMIT.fullmatch(value) or _NO_COMMIT.fullmatch(value):
        return None
    return value


def _api(url: str, usual: str) -> str:
    return url.rstrip("/") if url.startswith(("https://", "http://")) else usual
