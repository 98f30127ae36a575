"""The Django app: system checks, and restarts of `runserver`. It has no models."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks
from django.utils.autoreload import autoreload_started


class RobotrulesConfig(AppConfig):  # type: ignore[misc]  # Django has no types
    """The app of robotrules."""

    name = "robotrules.integrations.django"
    label = "robotrules"
    verbose_name = "robotrules"

    def ready(self) -> None:
        """Register the checks, and have `runserver` restart when a policy file changes."""
        from robotrules.integrations.django.checks import check_policy
        from robotrules.integrations.django.site_settings import watch_files

        checks.register(check_policy)
        autoreload_started.connect(watch_files, dispatch_uid="robotrules")
