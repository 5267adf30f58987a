#!lua
-- The log of structsync on a server: one call is one step. It appends entries, keeps leases, and says what
-- has been appended since; what the entries mean is decided by the processes that read them, not here.
--
-- KEYS[1]: under which everything of a namespace is kept:
--   itself              hash: run, ttl, now, grace, stamp, version
--   ...:sessions        sorted set: session -> end of its lease; 0: it is over, and the grace period runs
--   ...:session:<id>    hash: join, end: the entries that are written for it
--   ...:logs:<id>       set: the logs in which it takes part
--   ...:log:<name>      hash: start, stamp, snapshot; offer, offered, offer_stamp
--   ...:entries:<name>  list: "<stamp> <entry>"
--   ...:read:<name>     sorted set: session -> the position up to which it has read
--   ...:to:<id>         channel: the names of logs into which that session should look
-- ARGV: verb, session, and what the verb needs. Times are in microseconds, by the clock of the server.

local base, verb, me = KEYS[1], ARGV[1], ARGV[2]

local function key(part, name)
  return base .. ':' .. part .. ':' .. name
end

local function digits(number)
  return string.format('%.0f', number)
end

local sessions = base .. ':sessions'
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local known = redis.call('HMGET', base, 'run', 'ttl', 'now', 'grace', 'stamp', 'version')
if not known[1] and verb ~= 'open' then
  return { 'ended' }
end
local ttl = tonumber(known[2] or ARGV[3])
local before = tonumber(known[3] or now)
local grace = tonumber(known[4] or 0)
local stamp = tonumber(known[5] or 0)

-- Has the server been started, or another one taken its place, since the last call? Then the last entries may
-- be missing, and those who have read them hold what the log does not tell of, until their leases end.
local server = redis.call('INFO', 'server')
local run = server:match('run_id:(%w+)')
if not known[1] then
  -- It is new, or all of it was forgotten: when the server was started, or its predecessor failed.
  local up = tonumber(server:match('uptime_in_seconds:(%d+)')) - 1 -- it counts begun seconds
  local former = redis.call('INFO', 'replication'):match('master_replid2:(%w+)')
  if former and former:find('[^0]') then
    up = 0
  end
  grace = now + ttl - up * 1000000
elseif known[1] ~= run then
  grace = now + ttl
end

-- If the clock was set, or no session could reach the server, a lease that is over by the clock may have been
-- renewed in time by its owner: all of them begin anew.
if now < before or now - before > ttl / 2 then
  for _, session in ipairs(redis.call('ZRANGE', sessions, '(0', '+inf', 'BYSCORE')) do
    redis.call('ZADD', sessions, digits(now + ttl), session)
  end
  if grace > before then
    grace = now + ttl
  end
end

local function start_of(log)
  return tonumber(redis.call('HGET', key('log', log), 'start') or 0)
end

local function write(log, entries, first)
  for index = first or 1, #entries do
    stamp = math.max(stamp + 1, now)
    redis.call('RPUSH', key('entries', log), digits(stamp) .. ' ' .. entries[index])
  end
end

local function bury(session)
  for _, log in ipairs(redis.call('SMEMBERS', key('logs', session))) do
    redis.call('ZREM', key('read', log), session)
    local others = redis.call('ZRANGE', key('read', log), 0, -1)
    if #others == 0 then -- what is in a log means something while sessions take part
      redis.call('DEL', key('entries', log), key('log', log))
    else
      write(log, { redis.call('HGET', key('session', session), 'end') })
    end
    for _, other in ipairs(others) do
      redis.call('PUBLISH', key('to', other), log)
    end
  end
  redis.call('DEL', key('logs', session), key('session', session))
  redis.call('ZREM', sessions, session)
end

-- During the grace period a session is not buried, because that would let others in.
local function is_over(session)
  redis.call('ZADD', sessions, 0, session)
  if now >= grace then
    bury(session)
  end
end

local function has_read(log, position)
  redis.call('ZADD', key('read', log), 'GT', position, me)
  local offer = redis.call('HMGET', key('log', log), 'offered', 'offer_stamp', 'offer')
  if not offer[1] then
    return
  end
  local slowest = redis.call('ZRANGE', key('read', log), 0, 0, 'WITHSCORES')
  if tonumber(slowest[2]) >= tonumber(offer[1]) then
    redis.call('LTRIM', key('entries', log), tonumber(offer[1]) - start_of(log), -1)
    redis.call('HSET', key('log', log), 'start', offer[1], 'stamp', offer[2], 'snapshot', offer[3])
    redis.call('HDEL', key('log', log), 'offered', 'offer_stamp', 'offer')
  end
end

-- The stamp of the entry before a position; nil if there is none.
local function stamp_before(log, position)
  local start = start_of(log)
  if position == start then
    return redis.call('HGET', key('log', log), 'stamp')
  end
  local entry = redis.call('LINDEX', key('entries', log), position - 1 - start)
  return entry and entry:match('^%d+')
end

-- Whether the log has lost what the session has read last.
local function has_lost(log, position, seen)
  local read = redis.call('ZSCORE', key('read', log), me)
  if position == 0 or (read and position < tonumber(read)) then
    return false -- it has read nothing, or asked long ago
  end
  return not read or stamp_before(log, position) ~= seen
end

local act = {}

-- ttl, version, join, end
function act.open()
  if redis.call('ZCOUNT', sessions, '(0', '+inf') > 0 then
    if known[6] ~= ARGV[4] then
      return { 'version', known[6] }
    end
    if known[2] ~= ARGV[3] then
      return { 'ttl', known[2] }
    end
  end
  redis.call('HSET', base, 'ttl', ARGV[3], 'version', ARGV[4])
  redis.call('HSET', key('session', me), 'join', ARGV[5], 'end', ARGV[6])
  redis.call('ZADD', sessions, digits(now + tonumber(ARGV[3])), me)
  return { 'ok' }
end

-- log, position up to which it was read, stamp of the entry before that, entries
function act.append()
  local log, position = ARGV[3], tonumber(ARGV[4])
  if now < grace then
    return { 'grace', grace - now }
  end
  if has_lost(log, position, ARGV[5]) then
    is_over(me)
    return { 'ended' }
  end
  if redis.call('SADD', key('logs', me), log) == 1 then
    write(log, { redis.call('HGET', key('session', me), 'join') })
  end
  has_read(log, position)
  write(log, ARGV, 6)
  local start, snapshot = start_of(log), false
  if position < start then
    position, snapshot = start, redis.call('HGET', key('log', log), 'snapshot')
  end
  return { 'ok', position, snapshot, redis.call('LRANGE', key('entries', log), position - start, -1) }
end

-- of each log: its name, the position up to which it was read, and the stamp of the entry before that
function act.renew()
  for index = 3, #ARGV, 3 do
    if has_lost(ARGV[index], tonumber(ARGV[index + 1]), ARGV[index + 2]) then
      is_over(me)
      return { 'ended' }
    end
  end
  redis.call('ZADD', sessions, digits(now + ttl), me)
  for index = 3, #ARGV, 3 do
    if redis.call('ZSCORE', key('read', ARGV[index]), me) then
      has_read(ARGV[index], tonumber(ARGV[index + 1]))
    end
  end
  local earliest, first = ttl, redis.call('ZRANGE', sessions, 0, 1, 'WITHSCORES')
  for index = 1, #first, 2 do
    if first[index] ~= me then
      earliest = math.max(tonumber(first[index + 1]), grace) - now
      break
    end
  end
  local reply = { 'ok', earliest }
  for _, log in ipairs(redis.call('SMEMBERS', key('logs', me))) do
    reply[#reply + 1] = log
    reply[#reply + 1] = start_of(log) + redis.call('LLEN', key('entries', log))
  end
  return reply
end

-- log, position, state there, entry by which others compare
function act.compact()
  local log, position = ARGV[3], tonumber(ARGV[4])
  local offered = redis.call('HEXISTS', key('log', log), 'offered') == 1
  local ends = start_of(log) + redis.call('LLEN', key('entries', log))
  if now >= grace and not offered and ends == position then
    local last = stamp_before(log, position)
    redis.call('HSET', key('log', log), 'offered', position, 'offer_stamp', last, 'offer', ARGV[5])
    write(log, { ARGV[6] })
  end
  return { 'ok' }
end

function act.close()
  is_over(me)
  return { 'ok' }
end

if now >= grace then
  for _, session in ipairs(redis.call('ZRANGE', sessions, '-inf', digits(now), 'BYSCORE')) do
    bury(session)
  end
end
local reply = { 'ended' }
if verb == 'open' or tonumber(redis.call('ZSCORE', sessions, me) or 0) > 0 then
  reply = act[verb]()
end
redis.call('HSET', base, 'run', run, 'now', digits(now), 'grace', digits(grace), 'stamp', digits(stamp))
return reply
