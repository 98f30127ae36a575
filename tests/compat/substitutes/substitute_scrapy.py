"""
A pytest plug-in: Scrapy's tests of ProtegoRobotParser get the parser of robotrules.

It is the default of ROBOTSTXT_PARSER, so the tests of Scrapy's middleware get it too. The plug-in
also runs tests that are coroutines, as pytest-asyncio does, which Scrapy's suite needs.
"""

# It replaces classes of other libraries at run time.
# mypy: ignore-errors

import asyncio
import inspect

import pytest
import scrapy.robotstxt

from robotrules.integrations.scrapy import RobotParser

scrapy.robotstxt.ProtegoRobotParser = RobotParser


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True
