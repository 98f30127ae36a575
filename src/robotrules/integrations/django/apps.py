"""The Django app: registers the system checks. It has no models."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks


class RobotrulesConfig(AppConfig):  # type: ignore[misc]  # Django has no types
    """The app of robotrules."""

    name = "robotrules.integrations.django"
    label = "robotrules"
    verbose_name = "robotrules"

    def ready(self) -> None:
        """Register the checks."""
        from robotrules.integrations.django.checks import check_policy

        checks.register(check_policy)
