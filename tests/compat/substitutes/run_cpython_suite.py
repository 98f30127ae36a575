"""
Runs `test.test_robotparser` of this interpreter with our RobotFileParser in place of urllib's.

Prints one JSON object: the versions, and the outcome of every test by name. Tests that need the
Internet are skipped.
"""

# It replaces classes of other libraries at run time.
# mypy: ignore-errors

import json
import sys
import unittest
import urllib.robotparser

from test import support

from robotrules import engine_name
from robotrules.compat import robotparser

support.use_resources = []  # no network: regrtest does the same without `-u network`
# The suite starts its server on localhost; the client refuses private addresses otherwise.
robotparser.RobotFileParser.allow_private = ("localhost",)
urllib.robotparser.RobotFileParser = robotparser.RobotFileParser
urllib.robotparser.RequestRate = robotparser.RequestRate

import test.test_robotparser as suite  # noqa: E402  # after the substitution


class Outcomes(unittest.TestResult):
    """Collects the outcome of each test; a failed subtest fails its test."""

    def __init__(self):
        super().__init__()
        self.by_test = {}

    @staticmethod
    def name(test):
        """Return the class and the method of a test, or of the test of a subtest."""
        test = getattr(test, "test_case", test)
        return ".".join(test.id().split(".")[-2:])

    def startTest(self, test):
        super().startTest(test)
        self.by_test[self.name(test)] = "passed"

    def addFailure(self, test, err):
        self.by_test[self.name(test)] = "failed"

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addFailure(test, err)

    def addSkip(self, test, reason):
        self.by_test[self.name(test)] = "skipped"


outcomes = Outcomes()
unittest.defaultTestLoader.loadTestsFromModule(suite).run(outcomes)
assert suite.urllib.robotparser.RobotFileParser is robotparser.RobotFileParser
result = {
    "python": sys.version.split()[0],
    "engine": engine_name(),
    "outcomes": outcomes.by_test,
}
json.dump(result, sys.stdout)
