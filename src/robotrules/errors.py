"""
The errors of robotrules: for misuse, never for content.

    RobotrulesError
    ├── ProfileError (ValueError)        a profile that does not exist or breaks a MUST
    ├── ProductTokenError (ValueError)   a crawler's name that RFC 9309 §2.2.1 does not know
    ├── CrawlerError (ValueError)        a crawler's configuration that breaks a MUST
    ├── RegistryError (ValueError)       a registry file that cannot be used
    ├── WriteError (ValueError)          what no robots.txt can say
    ├── ConfigError (ValueError)         settings of a project that cannot be used
    ├── ExpectationError (ValueError)    an expectation file that cannot be used
    ├── CheckError (ValueError)          a lint check that does not exist
    ├── StoreError (OSError)             a store that cannot be used, or not now
    │   └── StoreBusyError               a store that somebody in a hurry would have to wait for
    ├── ProfileMismatchError (ValueError)  rules that cannot be compared with each other
    ├── WrongWitnessError (AssertionError)  an answer found out to be wrong: a fault of ours
    ├── SavedError (ValueError)          a file that is no saved response and no HAR file
    └── MissingExtraError (ImportError)  a library that an optional part needs and that is not there

    PurposeWarning (UserWarning)         purposes that a profile does not read

Whatever a robots.txt or a URL holds, there is an answer (RFC 9309 §2.3.1.5); what was odd about a
file is in its notes.
"""


class RobotrulesError(Exception):
    """The root of all errors raised here; the text says what, where, and the cure."""


class ProfileError(RobotrulesError, ValueError):
    """A profile that does not exist, or settings that the RFC forbids."""


class ProductTokenError(RobotrulesError, ValueError):
    """A product token that the grammar does not know (RFC 9309 §2.2.1)."""


class CrawlerError(RobotrulesError, ValueError):
    """A crawler's configuration that breaks a MUST of RFC 9309 or of a draft."""


class RegistryError(RobotrulesError, ValueError):
    """A registry file that cannot be used; the text says which entry, why, and the cure."""


class WriteError(RobotrulesError, ValueError):
    """What no robots.txt can say, or what could not be read back as it was meant."""


class ConfigError(RobotrulesError, ValueError):
    """A robotrules.toml or pyproject.toml that cannot be used; the text says where and the cure."""


class ExpectationError(RobotrulesError, ValueError):
    """An expectation file that cannot be used; the text says the line, what, and the cure."""


class CheckError(RobotrulesError, ValueError):
    """A name that no lint check has; the text says which comes close."""


class ProfileMismatchError(RobotrulesError, ValueError):
    """Rules that cannot be compared, because their profiles compare URLs differently."""


class WrongWitnessError(RobotrulesError, AssertionError):
    """A URL that the automata found and the matcher contradicts: a fault of ours; report it."""


class SavedResponseError(RobotrulesError, ValueError):
    """A file that is not what it was named as: a saved HTTP response, or a HAR file."""


class StoreError(RobotrulesError, OSError):
    """A store that cannot be used: not there, not ours, damaged; the text says which and why."""


class StoreBusyError(StoreError):
    """A store that is in use, told to who asked in a hurry; later, or with patience, it answers."""


class MissingExtraError(RobotrulesError, ImportError):
    """A library that an optional part needs; the text says how to install it."""


class PurposeWarning(UserWarning):
    """Purposes were given under a profile that does not read User-Agent-Purpose: no effect."""
