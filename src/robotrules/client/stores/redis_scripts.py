"""
The scripts of the Redis store: what happens on the server in one step, or not at all.

Keys, all behind the prefix that is each script's first argument:

    version                   of this layout
    entry:AGENT:ORIGIN        hash: row, last, digest
    entries                   sorted set, all scores 0: ORIGIN\\nAGENT, in that order
    body:DIGEST               hash: octets, and needed: how many visits and entries need them
    visits:ORIGIN             hash: ID → row, with ID = AGENT\\nAT\\nDIGEST\\nSTATUS
    times:ORIGIN              sorted set by time: ID
    times                     the same of all origins: ORIGIN\\nID
    lease:KEY                 the holder; expires
    turn:ORIGIN               hash: last, earliest; expires

A script finds keys that it was not told of, so this is for one server (with replicas, or a proxy in
front of one), and not for a cluster.
"""

from __future__ import annotations

# A visit, once, with its body if there is one; 1: it was new. A body is freed with its last need.
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
local function add(origin, id, at, digest, row, body)
  local new = redis.call('HSETNX', P .. 'visits:' .. origin, id, row)
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

# The same, and: agent, last, digest of the entry, its row; an empty row forgets it.
PUT = (
    _LIBRARY
    + """
local origin, agent, last, digest, row = ARGV[2], ARGV[9], ARGV[10], ARGV[11], ARGV[12]
add(origin, ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7] == '1' and ARGV[8])
local key = P .. 'entry:' .. agent .. ':' .. origin
local there = redis.call('HMGET', key, 'last', 'digest')
-- What is far in the future was put before the clock was set back.
local newer = there[1] and tonumber(there[1]) - tonumber(last) or 0
if newer > 0 and newer <= 60 then return 0 end
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

# prefix, before, then origin and agent of each: how many were forgotten
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

# prefix, before, how many at most
PRUNE_EVIDENCE = (
    _LIBRARY
    + """
local old = redis.call('ZRANGEBYSCORE', P .. 'times', '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(old) do
  local origin, id = string.match(member, '^([^\\n]*)\\n(.*)$')
  local digest = string.match(id, '^[^\\n]*\\n[^\\n]*\\n([^\\n]*)')
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

# prefix, origin, seconds it is kept, now, interval. 17 digits are a double; Lua itself writes 14.
RESERVE = """
local key = ARGV[1] .. 'turn:' .. ARGV[2]
local there = redis.call('HMGET', key, 'last', 'earliest')
local turn = tonumber(ARGV[4])
if there[1] then turn = math.max(turn, tonumber(there[1]) + tonumber(ARGV[5])) end
if there[2] then turn = math.max(turn, tonumber(there[2])) end
local text = string.format('%.17g', turn)
redis.call('HSET', key, 'last', text)
redis.call('EXPIRE', key, ARGV[3])
return text
"""

# prefix, origin, seconds it is kept, until
POSTPONE = """
local key = ARGV[1] .. 'turn:' .. ARGV[2]
local there = redis.call('HGET', key, 'earliest')
if not there or tonumber(there) < tonumber(ARGV[4]) then
  redis.call('HSET', key, 'earliest', ARGV[4])
end
redis.call('EXPIRE', key, ARGV[3])
return 1
"""
