"""The fetch of the drop-ins: the header that is sent, and its product token."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.client.sync import Client
from robotrules.compat.fetching import USER_AGENT, fetch_state
from tests.compat.loopback import serving

BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/1 Safari/2"


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        (USER_AGENT, "robotrules"),
        ("ExampleBot/1.0 (+https://example.com/bot)", "ExampleBot"),
        ("Mozilla/5.0 (compatible; ExampleBot/2.1)", "ExampleBot"),
        (BROWSER, "Mozilla"),
        ("MJ12bot/v1.4", "MJ12bot"),
    ],
)
def test_the_product_token_of_a_fetch(
    user_agent: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any header is sent as given, also one that the client alone would refuse."""
    opened: list[object] = []

    class Recording(Client):
        def __init__(self, *args: Any, **options: Any) -> None:
            opened.append(options["product_token"])
            super().__init__(*args, **options)

    monkeypatch.setattr("robotrules.compat.fetching.Client", Recording)
    with serving(200, b"User-agent: *\nDisallow: /a") as (origin, requested):
        state = fetch_state(f"{origin}/x", user_agent=user_agent, allow_private=["127.0.0.1"])
    assert opened == [token]
    assert requested == [("/robots.txt", user_agent)]
    assert state is not None
    assert not state.check(f"{origin}/a", token)


def test_other_urls_have_no_file() -> None:
    """Nothing is fetched for them."""
    assert fetch_state("mailto:bot@example.com") is None
