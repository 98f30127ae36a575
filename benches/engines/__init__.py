"""
Every engine the benches know, ours first; a rival is added by one file and one entry here.

Rivals are named by package and installed from `requirements.txt`; none is kept in this tree.
"""

from __future__ import annotations

from engines.fast_robotstxt import FastRobotstxt
from engines.jwm_robotstxt import JwmRobotstxt
from engines.protego import Protego
from engines.protocol import Engine
from engines.robotrules_native import RobotrulesNative
from engines.robotrules_pure import RobotrulesPure
from engines.robotspy import Robotspy
from engines.rust_crates import Robotstxt, TextingRobots
from engines.urllib_robotparser import UrllibRobotparser

__all__ = ["ALL", "OURS", "REFERENCE", "Engine", "named"]

# Ratios are to this engine.
REFERENCE = "Protego"
OURS = "robotrules"

ALL: tuple[Engine, ...] = (
    RobotrulesNative(),
    RobotrulesPure(),
    Protego(),
    UrllibRobotparser(),
    Robotspy(),
    JwmRobotstxt(),
    FastRobotstxt(),
    TextingRobots(),
    Robotstxt(),
)


def named(name: str) -> Engine:
    """The engine of that name."""
    for engine in ALL:
        if engine.name == name:
            return engine
    raise LookupError(f"no engine is called {name!r}; there are {[e.name for e in ALL]}")
