"""The contract on the client itself: `checked_slot()` around a bare HTTP client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urljoin

import httpx2

from robotrules import AsyncClient, Client, DisallowedError
from tests.integrations.contract import (
    USER_AGENT,
    IntegrationContract,
    Outcome,
    client_options,
)


class TestClient(IntegrationContract):
    """`Client.checked_slot()` in threads."""

    def crawl(self, urls: Sequence[str], *, tasks: int = 1, **options: Any) -> list[Outcome]:
        """Fetch with an `httpx2.Client`."""
        with (
            Client(USER_AGENT, **client_options(**options)) as client,
            httpx2.Client(headers={"User-Agent": USER_AGENT}) as http,
            ThreadPoolExecutor(tasks) as pool,
        ):
            return list(pool.map(lambda url: self._fetch(client, http, url), urls))

    def _fetch(self, client: Client, http: httpx2.Client, url: str) -> Outcome:
        while True:
            try:
                with client.checked_slot(url) as slot:
                    response = http.get(url)
                    slot.record_response(response.status_code, response.headers)
            except DisallowedError as error:
                return Outcome.of(error)
            if not response.is_redirect:
                return Outcome(response.status_code)
            url = urljoin(url, response.headers["location"])

    def abandon(self, slow: str, then: str, after: float) -> Outcome:
        """Give up by a timeout of the host."""
        with (
            Client(USER_AGENT, **client_options()) as client,
            httpx2.Client(timeout=after) as http,
        ):
            try:
                self._fetch(client, http, slow)
            except httpx2.TimeoutException:
                return self._fetch(client, http, then)
            raise AssertionError("the slow page was fetched")


class TestAsyncClient(IntegrationContract):
    """`AsyncClient.checked_slot()` in tasks."""

    def crawl(self, urls: Sequence[str], *, tasks: int = 1, **options: Any) -> list[Outcome]:
        """Fetch with an `httpx2.AsyncClient`."""

        async def run() -> list[Outcome]:
            limit = asyncio.Semaphore(tasks)
            async with (
                AsyncClient(USER_AGENT, **client_options(**options)) as client,
                httpx2.AsyncClient(headers={"User-Agent": USER_AGENT}) as http,
            ):

                async def fetch(url: str) -> Outcome:
                    async with limit:
                        return await self._fetch(client, http, url)

                return list(await asyncio.gather(*map(fetch, urls)))

        return asyncio.run(run())

    async def _fetch(self, client: AsyncClient, http: httpx2.AsyncClient, url: str) -> Outcome:
        while True:
            try:
                async with client.checked_slot(url) as slot:
                    response = await http.get(url)
                    slot.record_response(response.status_code, response.headers)
            except DisallowedError as error:
                return Outcome.of(error)
            if not response.is_redirect:
                return Outcome(response.status_code)
            url = urljoin(url, response.headers["location"])

    def abandon(self, slow: str, then: str, after: float) -> Outcome:
        """Cancel the task."""

        async def run() -> Outcome:
            async with (
                AsyncClient(USER_AGENT, **client_options()) as client,
                httpx2.AsyncClient() as http,
            ):
                task = asyncio.create_task(self._fetch(client, http, slow))
                await asyncio.sleep(after)
                task.cancel()
                return await self._fetch(client, http, then)

        return asyncio.run(run())
