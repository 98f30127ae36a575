"""What all tests of the client share: the servers, started once and only if somebody asks."""

from tests.client.servers import postgres_server, redis_server

__all__ = ["postgres_server", "redis_server"]
