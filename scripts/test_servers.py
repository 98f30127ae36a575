"""
Make a Redis and a PostgreSQL available to the tests, where that is ours to do.

    python scripts/test_servers.py

Where a server is missing, we are root and the system is a Debian with apt-get, its package is
installed, and no service of it is started: the tests start servers of their own, on 127.0.0.1, and
stop them (`tests/client/servers.py`). Where that cannot be it says why, and the tests that need the
server are skipped. It never fails: who has no servers still has a gate.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SECONDS = 600
# What is looked for, and the package that has it.
REDIS, POSTGRES = "redis-server", "postgresql"


def missing() -> list[str]:
    """Return the packages of the servers that are not there."""
    found_redis = shutil.which("redis-server") or shutil.which("valkey-server")
    found_postgres = shutil.which("initdb") or [
        path
        for pattern in ("usr/lib/postgresql/*/bin/initdb", "usr/pgsql-*/bin/initdb")
        for path in Path("/").glob(pattern)
    ]
    wanted = ((REDIS, found_redis), (POSTGRES, found_postgres))
    return [package for package, there in wanted if not there]


def refusal() -> str | None:
    """Return why nothing is installed here; None: it may be."""
    if os.environ.get("ROBOTRULES_NO_INSTALL", "") not in ("", "0"):
        return "ROBOTRULES_NO_INSTALL says not to install anything"
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root may install packages"
    if not Path("/etc/debian_version").exists() or not shutil.which("apt-get"):
        return "this is no Debian with apt-get"
    return None


def install(packages: list[str]) -> str | None:
    """Install packages quietly, without starting what is in them; return what went wrong."""
    # Debian's packages ask this program whether to start a service.
    policy = Path("/usr/sbin/policy-rc.d")
    is_ours = not policy.exists()
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    update = ["apt-get", "-qq", "update"]
    get = ["apt-get", "-qq", "-y", "--no-install-recommends", "install", *packages]
    try:
        if is_ours:
            policy.write_text("#!/bin/sh\nexit 101\n")
            policy.chmod(0o755)
        # An update that fails may leave lists that are good enough.
        for command in (update, get):
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                timeout=SECONDS,
            )
        words = done.stdout.decode(errors="replace").strip()
        return words[-500:] or "apt-get failed" if done.returncode else None
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    finally:
        if is_ours:
            policy.unlink(missing_ok=True)


def main() -> None:
    """Say what there is, and install what is not."""
    packages = missing()
    if not packages:
        print("test servers: Redis and PostgreSQL are here")
        return
    why = refusal()
    if why is None:
        print(f"test servers: installing {' and '.join(packages)}", flush=True)
        why = install(packages)
        packages = missing()
        if not packages:
            print("test servers: Redis and PostgreSQL are here")
            return
    print(f"test servers: no {' and no '.join(packages)}: {why or 'they did not come'}")
    print("test servers: the tests that need them will be skipped")


if __name__ == "__main__":
    main()
