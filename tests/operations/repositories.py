"""Real repositories, with fixed names and times, so that the ids of commits are always the same."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

START = 1_700_000_000
DAY = 86_400


class Repository:
    """A repository whose commits are a day apart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.days = 0
        self.git("init", "-q", "-b", "main")

    @classmethod
    def at(cls, folder: Path) -> Repository:
        """Return a repository that exists, such as a clone."""
        found = cls.__new__(cls)
        found.folder, found.days = folder, 0
        return found

    def git(self, *arguments: str) -> str:
        """Run git with fixed names and times."""
        when = f"{START + DAY * self.days} +0000"
        fixed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        for who in ("AUTHOR", "COMMITTER"):
            fixed |= {f"GIT_{who}_NAME": "Ann Example", f"GIT_{who}_EMAIL": "ann@example.com"}
            fixed[f"GIT_{who}_DATE"] = when
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=os.environ | fixed,
            capture_output=True,
            check=True,
        )
        return ran.stdout.decode()

    def commit(self, subject: str, **files: bytes | None) -> str:
        """Commit files, by name with `_` for a dot; None deletes."""
        for name, octets in files.items():
            path = self.folder / name.replace("_", ".")
            path.unlink(missing_ok=True) if octets is None else path.write_bytes(octets)
        self.days += 1
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD").strip()
