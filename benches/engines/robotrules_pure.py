"""
robotrules with its pure Python engine: what runs where nothing was compiled.

Does not know: anything its native sibling does not.
"""

from __future__ import annotations

from types import MappingProxyType

from engines.robotrules_native import RobotrulesNative


class RobotrulesPure(RobotrulesNative):
    """The engine that is the RFC written plainly; correct first, fast second."""

    name = "robotrules, pure"
    wanted = "pure"
    environment = MappingProxyType({"ROBOTRULES_NO_EXTENSIONS": "1"})
