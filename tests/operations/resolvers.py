"""Resolvers for tests: names and addresses from tables, with failures and delays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


class TableResolver:
    """Answers from tables, counts what it is asked, and raises what a table holds."""

    def __init__(
        self,
        names: Mapping[str, Sequence[str] | Exception] | None = None,
        addresses: Mapping[str, Sequence[str] | Exception] | None = None,
        wait: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.names, self.addresses, self.wait = dict(names or {}), dict(addresses or {}), wait
        self.asked: list[str] = []

    def reverse(self, address: str) -> Sequence[str]:
        """Return the names of an address."""
        return self._answer(self.names, address)

    def forward(self, name: str) -> Sequence[str]:
        """Return the addresses of a name."""
        return self._answer(self.addresses, name)

    def _answer(self, table: Mapping[str, Sequence[str] | Exception], key: str) -> Sequence[str]:
        self.asked.append(key)
        self.wait(key)
        found = table.get(key, ())
        if isinstance(found, Exception):
            raise found
        return found
