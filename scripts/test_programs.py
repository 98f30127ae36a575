"""
Install Redis, PostgreSQL, Chromium and web servers for the tests, on Debian and as root.

    python scripts/test_programs.py

If a program is missing, the user is root and the system is a Debian with apt-get, the script
installs its package without starting a service: the tests start servers on 127.0.0.1 and stop them
(`tests/client/servers.py`), and a browser without access to other machines. Otherwise the script
prints the reason, and the tests that need the program are skipped. The exit status is always 0, so
that the gate runs without these programs too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

TIMEOUT = 600
# Debian packages.
REDIS, POSTGRES, CHROMIUM = "redis-server", "postgresql", "chromium"
# Web servers by the program that tests start; together they take some seconds to install.
SERVERS = {
    "nginx": "nginx-light",
    "apache2": "apache2",
    "haproxy": "haproxy",
    "caddy": "caddy",
}


def find_missing() -> list[str]:
    """Return the packages of the programs that are not installed."""
    redis = shutil.which("redis-server") or shutil.which("valkey-server")
    postgres = shutil.which("initdb") or [
        path
        for pattern in ("usr/lib/postgresql/*/bin/initdb", "usr/pgsql-*/bin/initdb")
        for path in Path("/").glob(pattern)
    ]
    # The names that `tests/tags/test_chromium.py` looks for.
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    programs = ((REDIS, redis), (POSTGRES, postgres), (CHROMIUM, browser))
    missing = [package for package, installed in programs if not installed]
    # Debian has servers in /usr/sbin, which is not on every path.
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    return missing + [
        package for program, package in SERVERS.items() if not shutil.which(program, path=path)
    ]


def find_obstacle() -> str | None:
    """Return the reason why packages cannot be installed, or None."""
    if os.environ.get("ROBOTRULES_NO_INSTALL", "") not in ("", "0"):
        return "ROBOTRULES_NO_INSTALL is set"
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root may install packages"
    if not Path("/etc/debian_version").exists() or not shutil.which("apt-get"):
        return "the system is not a Debian with apt-get"
    return None


def install(packages: list[str]) -> str | None:
    """Install packages without starting their services; return the error, or None."""
    # Debian packages run this program to decide whether to start a service.
    policy = Path("/usr/sbin/policy-rc.d")
    creates_policy = not policy.exists()
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    update = ["apt-get", "-qq", "update"]
    get = ["apt-get", "-qq", "-y", "--no-install-recommends", "install", *packages]
    try:
        if creates_policy:
            policy.write_text("#!/bin/sh\nexit 101\n")
            policy.chmod(0o755)
        # If the update fails, the existing package lists may be sufficient.
        for command in (update, get):
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                timeout=TIMEOUT,
            )
        output = done.stdout.decode(errors="replace").strip()
        return output[-500:] or "apt-get failed" if done.returncode else None
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    finally:
        if creates_policy:
            policy.unlink(missing_ok=True)


def main() -> None:
    """Install the programs that are missing, and print the result."""
    packages = find_missing()
    reason = find_obstacle() if packages else None
    if packages and reason is None:
        print(f"test programs: installing {', '.join(packages)}", flush=True)
        reason = install(packages)
        packages = find_missing()
    if not packages:
        print("test programs: all are installed")
        return
    reason = reason or "apt-get did not install it"
    print(f"test programs: missing {', '.join(packages)}: {reason}")
    print("test programs: the tests that need them will be skipped")


if __name__ == "__main__":
    main()
