"""Watching: not at every key, quickly first, and what is old is given up."""

from __future__ import annotations

import asyncio

from robotrules.lsp.debounce import Debouncer


class Looks:
    """Remembers who was looked at and how; quick looks take as long and decide what they should."""

    def __init__(self, *, decided: bool = True, takes: float = 0.0) -> None:
        self.seen: list[tuple[str, bool]] = []
        self.cancelled = 0
        self._decided, self._takes = decided, takes

    async def __call__(self, name: str, quick: bool) -> bool:
        """Look."""
        try:
            await asyncio.sleep(self._takes if quick else 0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.seen.append((name, quick))
        return self._decided or not quick

    async def until(self, count: int) -> None:
        """Wait for so many looks, and then a moment for those that should not come."""
        while len(self.seen) < count:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)


def test_keys_in_a_row_are_one_look() -> None:
    """The last key counts, for each text alone."""

    async def _story() -> Looks:
        looks = Looks()
        watch = Debouncer(looks, pause=0.01, rest=0)
        for _ in range(5):
            watch.typed("a")
            watch.typed("b")
            await asyncio.sleep(0)
        await looks.until(2)
        return looks

    assert sorted(asyncio.run(_story()).seen) == [("a", True), ("b", True)]


def test_what_was_not_decided_is_looked_at_again() -> None:
    """Thoroughly, once the keyboard rests."""

    async def _story() -> Looks:
        looks = Looks(decided=False)
        Debouncer(looks, pause=0, rest=0).typed("a")
        await looks.until(2)
        return looks

    assert asyncio.run(_story()).seen == [("a", True), ("a", False)]


def test_a_new_key_ends_an_old_look() -> None:
    """What is found in an old text interests nobody."""

    async def _story() -> Looks:
        looks = Looks(takes=60)
        watch = Debouncer(looks, pause=0, rest=0)
        watch.typed("a")
        await asyncio.sleep(0.05)
        watch.saved("a")
        await looks.until(1)
        return looks

    looks = asyncio.run(_story())
    assert (looks.seen, looks.cancelled) == ([("a", False)], 1)


def test_a_closed_text_is_left_alone() -> None:
    """Nothing is looked at that nobody has open; closing twice is no matter."""

    async def _story() -> Looks:
        looks = Looks()
        watch = Debouncer(looks, pause=0.01, rest=0)
        watch.typed("a")
        watch.closed("a")
        watch.closed("a")
        await asyncio.sleep(0.05)
        return looks

    assert asyncio.run(_story()).seen == []


def test_a_look_that_fails_ends_nothing() -> None:
    """The next one is made all the same."""

    async def _story() -> list[str]:
        seen: list[str] = []

        async def _look(name: str, quick: bool) -> bool:
            seen.append(name)
            raise RuntimeError("no")

        watch = Debouncer(_look, pause=0, rest=0)
        watch.saved("a")
        await asyncio.sleep(0.02)
        watch.saved("b")
        await asyncio.sleep(0.02)
        return seen

    assert asyncio.run(_story()) == ["a", "b"]
