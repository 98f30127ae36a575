"""
The protocol: lists the tools and answers calls.

What an agent passes wrongly is a tool result with `isError`, which the agent's model reads and can
correct; what sites send is never an error. Each result has the sentence, as text, and the object,
as structured content and once more as text for clients that know only text.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import msgspec

from robotrules.errors import MissingExtraError, RobotrulesError

try:
    from mcp import types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
except ImportError:
    raise MissingExtraError(
        "the MCP server needs mcp, which is not installed: pip install 'robotrules[mcp]'"
    ) from None

from robotrules.robotstxt.tokens import product_token
from robotrules.service.live.fetching import Fetching
from robotrules.service.mcp.arguments import read_arguments
from robotrules.service.mcp.catalogue import TOOLS, ToolEntry, describe_tools, instructions
from robotrules.service.mcp.fetching import LiveSites
from robotrules.service.mcp.given import COMPARE, EXPLAIN, GUIDANCE, LINT, run_given
from robotrules.service.mcp.sentences import describe_result
from robotrules.service.problems import Problem
from robotrules.service.settings import ServiceSettings
from robotrules.service.work import WorkPool

__all__ = ["AgentServer", "make_server", "serve_stdio"]

logger = logging.getLogger(__name__)
MAX_CONCURRENCY = 64
# The crawler of questions that name none, if the settings have no User-Agent.
DEFAULT_USER_AGENT = "robotrules (mcp)"
# Seconds in which the client and its store are closed after a signal.
STOP_TIMEOUT = 5.0


class Session(NamedTuple):
    """What the calls share while the server runs."""

    live: LiveSites
    work: WorkPool


AgentServer = Server[Session]
Context = ServerRequestContext[Session]


def make_server(
    settings: ServiceSettings,
    *,
    version: str = "",
    has_one_client: bool = False,
    on_close: Callable[[], object] | None = None,
) -> AgentServer:
    """
    Return the server; it opens its client when it runs, and calls *on_close* at the end.

    *has_one_client*: all calls are those of one agent, so that a slot may be told it twice. Wrong
    settings raise a ValueError.
    """
    if not settings.user_agent:
        settings = settings._replace(user_agent=DEFAULT_USER_AGENT)
    tools = describe_tools(fetches=settings.fetches)
    calls = ToolCalls(settings)
    fetching = Fetching(settings)
    work = WorkPool(settings.limits, settings.processes)

    @asynccontextmanager
    async def lifespan(_: AgentServer) -> AsyncIterator[Session]:
        """Open the client, and close it with the processes at the end."""
        try:
            async with fetching:
                yield Session(LiveSites(fetching, work, repeats_slots=has_one_client), work)
        finally:
            work.close()
            if on_close is not None:
                on_close()

    async def list_tools(_: Context, __: object) -> types.ListToolsResult:
        """Return the tools that are offered."""
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Return the result of a call."""
        return await calls.answer(context.lifespan_context, params.name, params.arguments or {})

    return Server(
        "robotrules",
        version=version,
        title="robotrules: what sites ask of crawlers",
        instructions=instructions(fetches=settings.fetches),
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_stdio(settings: ServiceSettings, *, version: str = "") -> int | None:
    """
    Serve the process that has started this one, until it closes stdin.

    Returns None then. A signal ends the server too: its number is returned when all is closed, and
    the caller must end the process without a normal exit, because a thread still reads stdin.
    """
    closed = asyncio.Event()
    server = make_server(settings, version=version, has_one_client=True, on_close=closed.set)
    signals: asyncio.Queue[int] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_report_failure)
    with suppress(NotImplementedError):  # Windows: the process just ends
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, signals.put_nowait, int(number))
    serving = asyncio.create_task(_serve_streams(server))
    received = asyncio.create_task(signals.get())
    await asyncio.wait({serving, received}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        received.cancel()
        serving.result()
        return None
    serving.cancel()
    with suppress(TimeoutError):
        await asyncio.wait_for(closed.wait(), STOP_TIMEOUT)
    return received.result()


def _report_failure(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what failed unnoticed, but for the work of calls whose client has closed stdin."""
    if not isinstance(context.get("exception"), Problem):
        loop.default_exception_handler(context)


async def _serve_streams(server: AgentServer) -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


# --- Calls ----------------------------------------------------------------------------------------


class ToolCalls:
    """Answers calls of tools."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._own_token = product_token(settings.user_agent) or ""
        self._fetches = settings.fetches
        self._running = 0

    async def answer(
        self, session: Session, name: str, arguments: dict[str, Any]
    ) -> types.CallToolResult:
        """Return the result of a call; nothing raises."""
        entry = TOOLS.get(name)
        if entry is None:
            offered = [tool.name for tool in describe_tools(fetches=self._fetches)]
            return _error(f"there is no tool {name[:60]!r}; the tools are {', '.join(offered)}")
        if self._running >= MAX_CONCURRENCY:
            return _error("the server is busy: wait a few seconds and ask again")
        self._running += 1
        try:
            found = await self._run(session, entry, arguments)
            return _result(entry, found)
        except Problem as problem:
            return _error(_say(entry, problem))
        except (RobotrulesError, ValueError, TypeError) as error:
            return _error(f"{name}: {error}")
        except Exception:
            logger.exception("call of %s failed", name)
            return _error(f"{name} failed; the log of the server says why")
        finally:
            self._running -= 1

    async def _run(
        self, session: Session, entry: ToolEntry, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        if not self._fetches and entry.name == "may_fetch":
            raise Problem("fetching-off", "")
        has_robots = arguments.get("robots") is not None
        needs_url = entry.is_live and self._fetches and not has_robots
        given = read_arguments(entry.arguments, arguments, needs_url=needs_url)
        live = session.live
        answers: dict[str, Callable[[Any], Awaitable[dict[str, Any]]]] = {
            "may_fetch": live.may_fetch,
            "explain": live.explain,
            "guidance": live.guidance,
        }
        verbs = {"explain": EXPLAIN, "guidance": GUIDANCE, "lint": LINT, "compare": COMPARE}
        if entry.is_live and getattr(given, "robots", None) is None:
            return await answers[entry.name](given)
        if entry.name in ("explain", "guidance") and not arguments.get("as"):
            arguments = arguments | {"as": self._own_token}
        return await run_given(session.work, verbs[entry.name], arguments)


def _result(entry: ToolEntry, found: dict[str, Any]) -> types.CallToolResult:
    text = msgspec.json.encode(found).decode()
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text=describe_result(entry.name, found)),
            types.TextContent(type="text", text=text),
        ],
        structured_content=found,
    )


def _error(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)], is_error=True)


def _say(entry: ToolEntry, problem: Problem) -> str:
    where = str(problem.extra.get("at", "")).removeprefix("$.")
    detail = f"{where}: {problem.detail}" if where else problem.detail
    if problem.slug == "invalid-request":
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(entry.arguments))
        detail = f"{detail}. The arguments are {names}."
    elif problem.slug == "fetching-off":
        can = "call explain with" if entry.name == "may_fetch" else "pass"
        detail = f"this server does not fetch: {can} the text of the robots.txt in robots"
    elif problem.slug == "host-not-allowed":
        detail = (
            "this server does not fetch from that host; the rules of the site are not known. Do "
            "not fetch this URL"
        )
    return f"{entry.name}: {detail}"
