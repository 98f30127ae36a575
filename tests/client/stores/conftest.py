"""Each store: its address, empty, and open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast
from uuid import uuid4

import psycopg
import pytest
import redis

from robotrules.cache import Store
from robotrules.client import open_store
from tests.client.servers import PostgresServer, RedisServer

KINDS = ("memory", "sqlite", "redis", "postgres")


@pytest.fixture
def redis_where(redis_server: RedisServer) -> str:
    """The address of an empty Redis."""
    with redis.Redis.from_url(redis_server.url()) as client:
        client.flushall()
    return redis_server.url()


@pytest.fixture
def postgres_where(postgres_server: PostgresServer) -> str:
    """The address of an empty schema of PostgreSQL."""
    schema = f"s{uuid4().hex}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return postgres_server.url(schema)


def place_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """Return where an empty store of a kind is."""
    if kind == "memory":
        return "memory:"
    if kind == "sqlite":
        return f"sqlite:{folder / 'robots.sqlite'}"
    return cast("str", request.getfixturevalue(f"{kind}_where"))


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Each store."""
    opened = open_store(place_of(request.param, request, tmp_path))
    yield opened
    opened.close()


@pytest.fixture(params=KINDS[1:])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of each store that processes can share."""
    return place_of(request.param, request, tmp_path)
