"""Tests of transports: the same questions to each of them, over real sockets on loopback."""
