"""The names of `robotrules.client`, whose modules are imported on first access."""

from __future__ import annotations

from importlib import import_module

import pytest

from robotrules import client


def test_each_name_is_that_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked for once, and then it is there."""
    for name, module in client._LAZY_IMPORTS.items():
        value = getattr(import_module(f"robotrules.client.{module}"), name)
        monkeypatch.delitem(vars(client), name, raising=False)
        assert getattr(client, name) is value
        assert vars(client)[name] is value


def test_an_unknown_name() -> None:
    """The error is the usual one of Python."""
    with pytest.raises(AttributeError) as caught:
        _ = client.Nothing
    assert str(caught.value) == "module 'robotrules.client' has no attribute 'Nothing'"
