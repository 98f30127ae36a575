"""
The exceptions of robotrules: raised for misuse, never for content.

    RobotrulesError
    ├── ProfileError (ValueError)        an unknown profile, or one that violates a MUST
    ├── ProductTokenError (ValueError)   an invalid product token (RFC 9309 §2.2.1)
    ├── CrawlerError (ValueError)        a crawler configuration that violates a MUST
    ├── DisallowedError                  a request that was not sent: its URL is disallowed
    ├── RegistryError (ValueError)       an invalid registry file
    ├── WriteError (ValueError)          content that a robots.txt cannot express
    ├── PolicyError (ValueError)         a policy of a site that cannot be served as it is
    ├── ConfigError (ValueError)         invalid project settings, or settings of Scrapy
    ├── ExpectationError (ValueError)    an invalid expectation file
    ├── CheckError (ValueError)          an unknown lint check
    ├── StoreError (OSError)             an unavailable or unusable store
    │   └── StoreBusyError               a store that a non-blocking call would have to wait for
    ├── ProfileMismatchError (ValueError)  rule sets that cannot be compared with each other
    ├── WrongWitnessError (AssertionError)  a wrong result of analysis: a bug in robotrules
    ├── SavedResponseError (ValueError)  a file that is neither a saved response nor a HAR file
    ├── TableError (ValueError)          a table without a needed column, or with a wrong type
    ├── InputError (ValueError)          a dataset that cannot be read, or a run that cannot go on
    └── MissingExtraError (ImportError)  an optional dependency that is not installed

    PurposeWarning (UserWarning)         purposes that a profile does not read

Every robots.txt and every URL has a verdict (RFC 9309 §2.3.1.5); notes report what is unusual about
a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robotrules.linting.note import LintNote
    from robotrules.robotstxt.verdict import Verdict


class RobotrulesError(Exception):
    """The base class; the message says what is wrong, where, and how to fix it."""


class ProfileError(RobotrulesError, ValueError):
    """An unknown profile, or settings that the RFC does not allow."""


class ProductTokenError(RobotrulesError, ValueError):
    """A product token that the grammar does not allow (RFC 9309 §2.2.1)."""


class CrawlerError(RobotrulesError, ValueError):
    """A crawler configuration that violates a MUST of RFC 9309 or of a draft."""


class DisallowedError(RobotrulesError):
    """A request that was not sent, because the robots.txt disallows its URL to this crawler."""

    def __init__(self, url: str, verdict: Verdict, detail: str = "") -> None:
        # Not by `super()`: subclasses are errors of HTTP libraries too, with other arguments.
        self.args = (url, verdict, detail)
        self.url = url
        """The URL that was not requested; after a redirect, its target."""
        self.verdict = verdict
        """The verdict, with the reason and the deciding rule."""
        self.detail = detail
        """
        Why the robots.txt is unreachable, and until when that is remembered; empty if it is not.

        `status 503; last attempt 04:31:07 UTC, next attempt after 04:36:07 UTC`
        """

    def __str__(self) -> str:
        why = f" ({self.detail})" if self.detail else ""
        return f"{self.url}: {self.verdict}{why}"


class RegistryError(RobotrulesError, ValueError):
    """An invalid registry file; the message names the entry, the problem and the fix."""


class WriteError(RobotrulesError, ValueError):
    """Content that a robots.txt cannot express, or that would be parsed differently."""


class PolicyError(RobotrulesError, ValueError):
    """A policy that a site cannot serve: unreadable, invalid, or with notes of lint."""

    def __init__(self, message: str, notes: Sequence[LintNote] = ()) -> None:
        super().__init__(message, tuple(notes))
        self.notes = tuple(notes)
        """The notes that were not accepted; empty if the policy or a setting is invalid."""

    def __str__(self) -> str:
        return str(self.args[0])


class ConfigError(RobotrulesError, ValueError):
    """
    An invalid robotrules.toml, pyproject.toml, or ROBOTRULES_ setting of Scrapy.

    The message gives the position or the name of the setting, and the fix.
    """


class ExpectationError(RobotrulesError, ValueError):
    """An invalid expectation file; the message gives the line, the problem and the fix."""


class CheckError(RobotrulesError, ValueError):
    """An unknown lint check; the message suggests similar names."""


class ProfileMismatchError(RobotrulesError, ValueError):
    """Rule sets that cannot be compared: their profiles compare URLs differently."""


class WrongWitnessError(RobotrulesError, AssertionError):
    """A URL found by analysis that the matcher contradicts: a bug in robotrules; report it."""


class SavedResponseError(RobotrulesError, ValueError):
    """A file that is not a valid saved HTTP response or HAR file."""


class TableError(RobotrulesError, ValueError):
    """A table that cannot be used; the message names the column, the problem and the fix."""


class InputError(RobotrulesError, ValueError):
    """A dataset that cannot be read or written, or a run that cannot be continued."""


class StoreError(RobotrulesError, OSError):
    """A store that is missing, damaged or of another program; the message says which and why."""


class StoreBusyError(StoreError):
    """A store that is locked by another process, in a non-blocking call; retry later."""


class MissingExtraError(RobotrulesError, ImportError):
    """An optional dependency that is not installed; the message says how to install it."""


class PurposeWarning(UserWarning):
    """Purposes have no effect: the profile does not read User-Agent-Purpose."""
