"""
All engines that are measured, ours first. To add a rival, add one file and one entry here.

Rivals are installed from `requirements.txt`; this repository contains none of them.
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

__all__ = ["ALL", "OURS", "REFERENCE", "Engine", "find_engine"]

# The denominator of all ratios.
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


def find_engine(name: str) -> Engine:
    """Return the engine with this name."""
    for engine in ALL:
        if engine.name == name:
            return engine
    raise LookupError(f"unknown engine {name!r}; engines are {[e.name for e in ALL]}")
