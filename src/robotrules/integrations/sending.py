"""
Sending a request of a thread in a slot of its origin.

This module knows no host library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robotrules.client.sync import Client


def send_in_slot(
    client: Client, url: str, status: str, send: Callable[..., Any], *arguments: Any, **options: Any
) -> Any:
    """
    Call *send* with the arguments in the next slot of the origin of *url*; return its response.

    *status* is the name of the attribute of a response with its status. Raises `DisallowedError` if
    the rules disallow the URL.
    """
    response = None
    try:
        with client.checked_slot(url) as slot:
            response = send(*arguments, **options)
            if response is not None:
                slot.record_response(getattr(response, status), response.headers)
        return response
    except BaseException:
        if response is not None:  # interrupted while the slot ended: no caller will close it
            response.close()
        raise
