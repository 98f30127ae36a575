"""
The errors of robotrules: for misuse, never for content.

    RobotrulesError
    ├── ProfileError (ValueError)        a profile that does not exist or breaks a MUST
    └── ProductTokenError (ValueError)   a crawler's name that RFC 9309 §2.2.1 does not know

Whatever a robots.txt or a URL holds, there is an answer (RFC 9309 §2.3.1.5); what was odd about a
file is in its notes.
"""


class RobotrulesError(Exception):
    """The root of all errors raised here; the text says what, where, and the cure."""


class ProfileError(RobotrulesError, ValueError):
    """A profile that does not exist, or settings that the RFC forbids."""


class ProductTokenError(RobotrulesError, ValueError):
    """A product token that the grammar does not know (RFC 9309 §2.2.1)."""
