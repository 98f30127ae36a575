"""
Scripts of the Redis store, each of which the server runs atomically.

Keys, all after the prefix that is the first argument of each script:

    version                   of this layout
    entry:AGENT:ORIGIN        hash: row, last, digest
    entries                   sorted set, all scores 0: ORIGIN\\nAGENT, in that order
    body:DIGEST               hash: octets, and needed: the number of records and entries that refer
    to it visits:ORIGIN             hash: ID → row, with ID = AGENT\\nAT\\nDIGEST\\nSTATUS
    times:ORIGIN              sorted set by time: ID times                     the same for all
    origins: ORIGIN\\nID lease:KEY                 the holder; expires turn:ORIGIN
    hash: last, earliest; expires

In AGENT, control characters, `:` and `%` are percent-encoded. Members are split from their end,
which contains no external text, and ORIGIN has no newline.

Scripts compute keys that are not in their arguments, so this works with one server (with replicas,
or behind a proxy), and not with a cluster.
"""

from __future__ import annotations

# Add a record once, with its body; 1: it was new. A body is deleted with its last reference.
_LIBRARY = """
local P = ARGV[1]
local function need(digest)
  if digest ~= '' then redis.call('HINCRBY', P .. 'body:' .. digest, 'needed', 1) end
end
local function let_go(digest)
  if digest and digest ~= '' then
    local key = P .. 'body:' .. digest
    if redis.call('HINCRBY', key, 'needed', -1) <= 0 then redis.call('DEL', key) end
  end
end
local function add(origin, id, at, digest, row, body, own)
  local new = redis.call('HSETNX', P .. 'visits:' .. origin, id, row)
  -- A client's record replaces the same record imported before.
  if own and new == 0 then redis.call('HSET', P .. 'visits:' .. origin, id, row) end
  if new == 1 then
    redis.call('ZADD', P .. 'times:' .. origin, at, id)
    redis.call('ZADD', P .. 'times', at, origin .. '\\n' .. id)
    need(digest)
  end
  if body then redis.call('HSET', P .. 'body:' .. digest, 'octets', body) end
  return new
end
"""

# prefix, origin, id, at, digest, row, whether there is a body, body
ADD = (
    _LIBRARY
    + """
return add(ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7] == '1' and ARGV[8])
"""
)

# The same, and: agent, last, digest of the entry, its row (empty: delete it), MAX_CLOCK_SKEW.
PUT = (
    _LIBRARY
    + """
local origin, agent, last, digest, row = ARGV[2], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
add(origin, ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7] == '1' and ARGV[8], true)
local key = P .. 'entry:' .. agent .. ':' .. origin
local there = redis.call('HMGET', key, 'last', 'digest')
-- A time far in the future was stored before the clock was set back.
local newer = there[1] and tonumber(there[1]) > tonumber(last)
if newer and tonumber(there[1]) <= tonumber(last) + tonumber(ARGV[13]) then return 0 end
if row ~= '' then
  need(digest)
  redis.call('HSET', key, 'row', row, 'last', last, 'digest', digest)
  redis.call('ZADD', P .. 'entries', 0, origin .. '\\n' .. agent)
else
  redis.call('DEL', key)
  redis.call('ZREM', P .. 'entries', origin .. '\\n' .. agent)
end
let_go(there[2])
return 1
"""
)

# prefix, before, then origin and agent of each: returns how many were deleted
PRUNE = (
    _LIBRARY
    + """
local forgotten = 0
for i = 3, #ARGV, 2 do
  local key = P .. 'entry:' .. ARGV[i + 1] .. ':' .. ARGV[i]
  local there = redis.call('HMGET', key, 'last', 'digest')
  if not there[1] then
    redis.call('ZREM', P .. 'entries', ARGV[i] .. '\\n' .. ARGV[i + 1])
  elseif tonumber(there[1]) < tonumber(ARGV[2]) then
    redis.call('DEL', key)
    redis.call('ZREM', P .. 'entries', ARGV[i] .. '\\n' .. ARGV[i + 1])
    let_go(there[2])
    forgotten = forgotten + 1
  end
end
return forgotten
"""
)

# prefix, before, maximum number
PRUNE_EVIDENCE = (
    _LIBRARY
    + """
local old = redis.call('ZRANGEBYSCORE', P .. 'times', '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(old) do
  local origin, id = string.match(member, '^([^\\n]*)\\n(.*)$')
  local digest = string.match(id, '\\n([^\\n]*)\\n[^\\n]*$')
  redis.call('ZREM', P .. 'times', member)
  redis.call('ZREM', P .. 'times:' .. origin, id)
  if redis.call('HDEL', P .. 'visits:' .. origin, id) == 1 then let_go(digest) end
end
return #old
"""
)

# prefix, key, holder, milliseconds
LEASE = """
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('SET', key, ARGV[3], 'NX', 'PX', ARGV[4]) then return 1 end
if redis.call('GET', key) ~= ARGV[3] then return 0 end
redis.call('PEXPIRE', key, ARGV[4])
return 1
"""

# prefix, key, holder
RELEASE = """
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('GET', key) == ARGV[3] then redis.call('DEL', key) end
return 1
"""

# prefix, key
HOLDER = "return redis.call('GET', ARGV[1] .. 'lease:' .. ARGV[2])"

# prefix, origin, TTL in seconds, maximum seconds ahead; then a time. The rules of `pacing`: a time
# too far ahead is dropped with the next write.
_TURNS = """
local key = ARGV[1] .. 'turn:' .. ARGV[2]
local now = tonumber(ARGV[5])
local there = redis.call('HMGET', key, 'last', 'earliest')
local function believed(text)
  local moment = text and tonumber(text)
  return moment and moment <= now + tonumber(ARGV[4]) and moment or nil
end
local last, earliest = believed(there[1]), believed(there[2])
local function note(turn)
  if not earliest then redis.call('HDEL', key, 'earliest') end
  -- 17 digits represent a double exactly; Lua writes 14.
  local text = string.format('%.17g', turn)
  redis.call('HSET', key, 'last', text)
  redis.call('EXPIRE', key, ARGV[3])
  return text
end
"""

# The same, where the time is now, and: interval, maximum seconds ahead of a slot.
RESERVE = (
    _TURNS
    + """
local turn = now
if last then turn = math.max(turn, last + tonumber(ARGV[6])) end
if earliest then turn = math.max(turn, earliest) end
return note(math.min(turn, now + tonumber(ARGV[7])))
"""
)

# The same, where the time is now, and: interval.
BEGIN = (
    _TURNS
    + """
local ready = math.max(last and last + tonumber(ARGV[6]) or now, earliest or now)
if ready > now then return string.format('%.17g', ready) end
return note(now)
"""
)

# The same, where the time is that before which there is no slot.
POSTPONE = (
    _TURNS
    + """
if not earliest or earliest < now then
  redis.call('HSET', key, 'earliest', ARGV[5])
end
redis.call('EXPIRE', key, ARGV[3])
return 1
"""
)
