"""The errors: one tree, for misuse and never for content."""

from __future__ import annotations

import pytest

import robotrules
from robotrules import ProductTokenError, ProfileError, RobotrulesError


@pytest.mark.parametrize("error", [ProfileError, ProductTokenError])
def test_every_error_is_ours_and_a_value_error(error: type[Exception]) -> None:
    """Every error raised here can be caught as RobotrulesError or as ValueError."""
    assert issubclass(error, RobotrulesError)
    assert issubclass(error, ValueError)


def test_the_root_is_not_a_value_error() -> None:
    """The root class allows errors that are not a ValueError, such as those of I/O."""
    assert issubclass(RobotrulesError, Exception)
    assert not issubclass(RobotrulesError, ValueError)


@pytest.mark.parametrize(
    ("misuse", "cure"),
    [
        (lambda: robotrules.parse("", "loose"), "use default, strict, google"),
        (lambda: robotrules.DEFAULT.replace(max_bytes=1), "use that or more"),
        (lambda: robotrules.DEFAULT.replace(max_line=0), "use a positive number, or None"),
        (lambda: robotrules.DEFAULT.replace(lenient=True), "it has name, max_bytes"),
        (
            lambda: robotrules.DEFAULT.with_extensions(robotrules.Extension("a:b")),
            "use text without",
        ),
        (lambda: robotrules.parse("").check("/", ""), "pass the crawler's name"),
        (lambda: robotrules.parse("").check("/", []), "pass the crawler's name"),
        (lambda: robotrules.parse("", "strict").check("/", "a/1"), "robotrules.product_token()"),
    ],
)
def test_an_error_has_a_fix(misuse: object, cure: str) -> None:
    """The text of every error contains what to do instead."""
    assert callable(misuse)
    with pytest.raises(RobotrulesError) as caught:
        misuse()
    assert cure in str(caught.value)
