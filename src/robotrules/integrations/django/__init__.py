"""
Django app: /robots.txt, tag fields and Content-Usage of a policy, with system checks.

    INSTALLED_APPS = [..., "robotrules.integrations.django"]
    MIDDLEWARE = ["robotrules.integrations.django.middleware.DjangoRobotsMiddleware", ...]
    ROBOTRULES = {"POLICY": BASE_DIR / "policy.toml"}

Modules: apps (registers the checks) · checks (`manage.py check`) · middleware · site_settings (the
policy of the settings, and its counters).
"""

from robotrules.errors import MissingExtraError

# Every module of the app is imported after this one.
try:
    import django  # noqa: F401
except ImportError:
    raise MissingExtraError("django is not installed: pip install 'robotrules[django]'") from None
