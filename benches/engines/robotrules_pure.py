"""
robotrules with its pure Python engine, which runs where no native engine was built.
"""

from __future__ import annotations

from types import MappingProxyType

from engines.robotrules_native import RobotrulesNative


class RobotrulesPure(RobotrulesNative):
    """The pure Python engine."""

    name = "robotrules, pure"
    engine_module = "pure"
    environment = MappingProxyType({"ROBOTRULES_NO_EXTENSIONS": "1"})
