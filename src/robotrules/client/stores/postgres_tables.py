"""
The tables of the PostgreSQL store, `robotrules_*`, and what is asked of them.

They are made at the first use, in the first schema of the connection's `search_path`, under an
advisory lock: two processes may come at the same moment. Texts are compared by their octets (`C`),
so that the order is that of the other stores. Each question is one statement, so that it is all or
nothing without a transaction around it. It does not know what is in a row.
"""

from __future__ import annotations

from robotrules.cache import MAX_CLOCK_SKEW
from robotrules.client.stores.pacing import MAX_AHEAD, MAX_TRUSTED_AHEAD

# `rbtr`: who makes tables holds this advisory lock.
LOCK = int.from_bytes(b"rbtr", "big")

TEXT = 'text COLLATE "C" NOT NULL'
TABLES = {
    "robotrules_store": "CREATE TABLE IF NOT EXISTS robotrules_store (version integer NOT NULL)",
    "robotrules_entries": f"""CREATE TABLE IF NOT EXISTS robotrules_entries (
        origin {TEXT}, agent {TEXT}, last double precision NOT NULL, digest {TEXT},
        "row" bytea NOT NULL, PRIMARY KEY (origin, agent))""",
    "robotrules_bodies": f"""CREATE TABLE IF NOT EXISTS robotrules_bodies (
        digest {TEXT} PRIMARY KEY, octets bytea NOT NULL)""",
    "robotrules_visits": f"""CREATE TABLE IF NOT EXISTS robotrules_visits (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, origin {TEXT},
        at double precision NOT NULL, agent {TEXT}, digest {TEXT}, status integer NOT NULL,
        "row" bytea NOT NULL)""",
    # Unlogged: after a crash of the server no lease is valid.
    "robotrules_leases": f"""CREATE UNLOGGED TABLE IF NOT EXISTS robotrules_leases (
        key {TEXT} PRIMARY KEY, holder {TEXT}, until timestamptz NOT NULL)""",
    "robotrules_turns": f"""CREATE TABLE IF NOT EXISTS robotrules_turns (
        origin {TEXT} PRIMARY KEY, last double precision NOT NULL,
        earliest double precision NOT NULL)""",
}
INDEXES = (
    # Each record is stored once; those of an origin are read in chronological order.
    """CREATE UNIQUE INDEX IF NOT EXISTS robotrules_visits_once
        ON robotrules_visits (origin, at, agent, digest, status)""",
    "CREATE INDEX IF NOT EXISTS robotrules_visits_at ON robotrules_visits (at, number)",
    # References to bodies: see SWEEP_BODIES.
    """CREATE INDEX IF NOT EXISTS robotrules_visits_digest ON robotrules_visits (digest)
        WHERE digest <> ''""",
    """CREATE INDEX IF NOT EXISTS robotrules_entries_digest ON robotrules_entries (digest)
        WHERE digest <> ''""",
)
MISSING = "SELECT count(*) FROM unnest(%s::text[]) AS name WHERE to_regclass(name) IS NULL"
SET_VERSION = """INSERT INTO robotrules_store SELECT %s
    WHERE NOT EXISTS (SELECT FROM robotrules_store)"""
UPGRADE = "UPDATE robotrules_store SET version = %(version)s WHERE version < %(version)s"

# The next fetch of a damaged body repairs it.
_BODY = """body AS (INSERT INTO robotrules_bodies AS there (digest, octets)
    VALUES (%(digest)s, %(body)s) ON CONFLICT (digest) DO UPDATE SET octets = excluded.octets
    WHERE there.octets <> excluded.octets)"""
_VISIT = """INSERT INTO robotrules_visits (origin, at, agent, digest, status, "row")
    VALUES (%(origin)s, %(at)s, %(agent)s, %(digest)s, %(status)s, %(row)s)
    ON CONFLICT DO NOTHING"""
# A client's record replaces the same record imported before.
_OWN_VISIT = _VISIT.replace("_visits (", "_visits AS there (", 1).replace(
    "DO NOTHING",
    """(origin, at, agent, digest, status)
    DO UPDATE SET "row" = excluded."row" WHERE there."row" <> excluded."row" """,
)
# A time far in the future was stored before the clock was set back.
_ENTRY = f"""INSERT INTO robotrules_entries AS there (origin, agent, last, digest, "row")
    VALUES (%(origin)s, %(agent)s, %(last)s, %(entry_digest)s, %(entry_row)s)
    ON CONFLICT (origin, agent)
    DO UPDATE SET last = excluded.last, digest = excluded.digest, "row" = excluded."row"
    WHERE there.last <= excluded.last OR there.last > excluded.last + {MAX_CLOCK_SKEW}"""
_FORGET = f"""DELETE FROM robotrules_entries
    WHERE origin = %(origin)s AND agent = %(agent)s
    AND (last <= %(last)s OR last > %(last)s + {MAX_CLOCK_SKEW})"""


def add(with_body: bool) -> str:
    """Return the statement that adds a record; its row count is the number of new ones."""
    return f"WITH {_BODY} {_VISIT}" if with_body else _VISIT


def put(with_body: bool, with_entry: bool) -> str:
    """Return the statement that adds a client's record, and puts or deletes the entry."""
    parts = [_BODY] if with_body else []
    parts.append(f"visit AS ({_OWN_VISIT})")
    return f"WITH {', '.join(parts)} {_ENTRY if with_entry else _FORGET}"


GET = 'SELECT "row" FROM robotrules_entries WHERE origin = %s AND agent = %s'
BODY = "SELECT octets FROM robotrules_bodies WHERE digest = %s"

# The current time of the server, not that of the beginning of the transaction.
LEASE = """INSERT INTO robotrules_leases AS there (key, holder, until)
    VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s))
    ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE there.holder = excluded.holder OR there.until <= clock_timestamp()"""
RELEASE = "DELETE FROM robotrules_leases WHERE key = %s AND holder = %s"
HOLDER = "SELECT holder FROM robotrules_leases WHERE key = %s AND until > clock_timestamp()"


def _trusted(moment: str, now: str) -> str:
    """Return an expression for a time, ignored if it is too far ahead (`pacing`)."""
    return f"CASE WHEN {moment} <= {now} + {MAX_TRUSTED_AHEAD} THEN {moment} ELSE '-infinity' END"


_NOW = "%(now)s::double precision"
_EARLIEST = _trusted("there.earliest", _NOW)
_READY = f"""greatest(({_trusted("there.last", _NOW)}) + %(interval)s::double precision,
    {_EARLIEST})"""
_TURN = f"""INSERT INTO robotrules_turns AS there (origin, last, earliest)
    VALUES (%(origin)s, {_NOW}, '-infinity') ON CONFLICT (origin) DO UPDATE SET"""
RESERVE = f"""{_TURN}
    last = least(greatest({_NOW}, {_READY}), {_NOW} + {MAX_AHEAD}), earliest = {_EARLIEST}
    RETURNING last"""
BEGIN = f"{_TURN} last = {_NOW}, earliest = {_EARLIEST} WHERE {_READY} <= {_NOW} RETURNING last"
READY = f"SELECT {_READY} FROM robotrules_turns AS there WHERE origin = %(origin)s"
POSTPONE = f"""INSERT INTO robotrules_turns AS there (origin, last, earliest)
    VALUES (%s, '-infinity', %s) ON CONFLICT (origin) DO UPDATE SET earliest =
    greatest({_trusted("there.earliest", "excluded.earliest")}, excluded.earliest)"""

NEXT_ENTRIES = """SELECT origin, agent, "row" FROM robotrules_entries
    WHERE (origin, agent) > (%s, %s) ORDER BY origin, agent LIMIT %s"""
NEXT_RECORDS = """SELECT origin, at, number, "row" FROM robotrules_visits
    WHERE (at, number) > (%s, %s) AND at <= %s ORDER BY at, number LIMIT %s"""
NEXT_RECORDS_OF = """SELECT origin, at, number, "row" FROM robotrules_visits
    WHERE origin = %s AND (at, number) > (%s, %s) AND at <= %s ORDER BY at, number LIMIT %s"""
NEXT_BODIES = """SELECT max(digest) FROM (SELECT digest FROM robotrules_bodies
    WHERE digest > %s ORDER BY digest LIMIT %s) AS page"""

PRUNE_ENTRIES = """DELETE FROM robotrules_entries WHERE last < %(before)s AND (origin, agent) IN
    (SELECT origin, agent FROM robotrules_entries WHERE last < %(before)s LIMIT %(share)s)"""
PRUNE_SLOTS = """DELETE FROM robotrules_turns WHERE greatest(last, earliest) < %(before)s
    AND origin IN (SELECT origin FROM robotrules_turns
    WHERE greatest(last, earliest) < %(before)s LIMIT %(share)s)"""
PRUNE_LEASES = "DELETE FROM robotrules_leases WHERE until <= clock_timestamp()"
PRUNE_RECORDS = """DELETE FROM robotrules_visits WHERE number IN
    (SELECT number FROM robotrules_visits WHERE at < %(before)s ORDER BY at LIMIT %(share)s)"""
# While bodies are swept, no record that needs one may be added: a batch takes milliseconds, and
# this lock waits for all records that were being added.
QUIET = "LOCK TABLE robotrules_visits IN SHARE ROW EXCLUSIVE MODE"
SWEEP_BODIES = """DELETE FROM robotrules_bodies AS body WHERE digest > %s AND digest <= %s
    AND NOT EXISTS
        (SELECT FROM robotrules_visits WHERE digest = body.digest AND digest <> '')
    AND NOT EXISTS
        (SELECT FROM robotrules_entries WHERE digest = body.digest AND digest <> '')"""
