"""The command `serve`: the page and the HTTP API."""

from __future__ import annotations

import click


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(0, 65535))
def serve(host: str, port: int) -> int:
    """Serve the page and the HTTP API on this machine."""
    import uvicorn

    from robotrules.service.app import create_app
    from robotrules.service.settings import ServiceSettings

    uvicorn.run(create_app(ServiceSettings(host=host, port=port)), host=host, port=port)
    return 0
