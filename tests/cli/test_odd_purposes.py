"""A purpose in a file is data: whatever signs it has, every command has an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import robotrules as library
from robotrules.errors import ProductTokenError
from tests.cli.shell import robotrules

# What Python takes for whitespace, and a parser for a value (RFC 9309 §2.2: WS is SP and HTAB).
SIGNS = ("\u00a0", "\u3000", "\u2003", "\u0085", "\x0b", "\x1c", "\u2028", "\ud800")
COMMANDS = (
    ["lint"],
    ["lint", "--diff"],
    ["fmt", "--diff"],
    ["simplify"],
    ["matrix", "--all", "--path", "/a"],
    ["parse"],
)


def body_with(sign: str) -> bytes:
    """Return a file with groups for such purposes."""
    purpose = sign.encode("utf-8", "surrogatepass")
    return (
        b"User-agent: *\nDisallow: /b\n\nUser-agent-purpose: %b\nDisallow: /a\nDisallow: /a/b\n\n"
        b"User-agent-purpose: train\nUser-agent: ExampleBot\nDisallow: /a\n" % purpose
    )


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_an_answer(tmp_path: Path, command: list[str], sign: str) -> None:
    """No command treats it as a usage error."""
    file = tmp_path / "robots.txt"
    file.write_bytes(body_with(sign))
    ran = robotrules(*command, str(file))
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("sign", SIGNS)
def test_files_are_compared(tmp_path: Path, sign: str) -> None:
    """With one that has no such group."""
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_bytes(body_with(sign))
    new.write_bytes(b"User-agent: *\nDisallow: /b\n")
    assert robotrules("diff", str(old), str(new)).code == 1


def test_the_api_accepts_the_purposes_of_a_file() -> None:
    """A purpose is empty only if the parser trims it to nothing."""
    robots = library.parse(body_with("\u00a0"))
    assert not robots.check("/a", "Nobody", purposes=["\u00a0"])
    assert robots.check("/b", "Nobody", purposes=["\u00a0"])
    for empty in ("", " ", "\t "):
        with pytest.raises(ProductTokenError, match="empty"):
            robots.check("/a", "Nobody", purposes=[empty])
