#!lua
-- The log of structsync on a server: one call is one step. It appends entries, keeps leases, and says what
-- has been appended since; what the entries mean is decided by the processes that read them, not here.
--
-- The session that loads it puts in which run of the server it is for. Scripts are neither kept nor replicated, so
-- another run has none of this name; that is cheaper than to ask.
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

local run = '<run>'
local base, verb, me = KEYS[1], ARGV[1], ARGV[2]

local function key(part, name)
  return base .. ':' .. part .. ':' .. name
end

local sessions = base .. ':sessions'
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local now_in_digits = clock[1] .. string.format('%06d', clock[2])

-- A server is given digits: to be given a number takes it longer than to look one up.
local function digits(number)
  return number == now and now_in_digits or string.format('%.0f', number)
end

local known = redis.call('HMGET', base, 'run', 'ttl', 'now', 'grace', 'stamp')
if not known[2] then
  if verb ~= 'open' and verb ~= 'rejoin' then
    return { 'unknown' } -- the session gives its name, and the script how long ago that can have been forgotten
  end
  known[2] = ARGV[3]
  redis.call('HSET', base, 'ttl', ARGV[3], 'version', ARGV[4])
end
local ttl = tonumber(known[2])
local before = tonumber(known[3] or now)
local grace = tonumber(known[4] or -1)
local stamp = tonumber(known[5] or 0)

-- Has the server been started, or another one taken its place, since the last call? Then the last entries may
-- be missing, and the sessions that have read them hold what the log does not tell of, until their leases end.
if known[1] ~= run then
  grace = now + ttl
  if not known[1] then
    -- It is new, or all of it was forgotten: when the server was started, or its predecessor failed.
    local up = redis.call('INFO', 'server'):match('uptime_in_seconds:(%d+)') - 1 -- it counts begun seconds
    local former = redis.call('INFO', 'replication'):match('master_replid2:(%w+)')
    if former and former:find('[^0]') then
      up = 0
    end
    grace = grace - up * 1000000
  end
  redis.call('HSET', base, 'run', run, 'grace', grace)
end

-- If the clock was set, or no session could reach the server, a lease that is over by the clock may have been
-- renewed in time by its owner: all of them begin anew.
if now < before or now - before > ttl / 2 then
  for _, session in ipairs(redis.call('ZRANGE', sessions, '(0', '+inf', 'BYSCORE')) do
    redis.call('ZADD', sessions, now + ttl, session)
  end
  if grace > before then
    grace = now + ttl
    redis.call('HSET', base, 'grace', grace)
  end
end

-- Append entries, and return the stamp of the first; each one after it has the next.
local function write(log, entries, first)
  local begins = math.max(stamp + 1, now)
  for index = first or 1, #entries do
    stamp = math.max(stamp + 1, now)
    redis.call('RPUSH', key('entries', log), digits(stamp) .. ' ' .. entries[index])
  end
  return begins
end

local function take_note()
  redis.call('HSET', base, 'now', now_in_digits, 'stamp', digits(stamp))
end

local lease = redis.call('ZSCORE', sessions, me)
local ends = tonumber(lease or 0)

-- Whether a line of a log is the entry that the session has read last.
local function is_read(line)
  return line and line:sub(1, #ARGV[5] + 1) == ARGV[5] .. ' '
end

-- The entries from that on; nothing if they are not all that the session has to be told.
local function since_read(log)
  local its = redis.call('HMGET', key('log', log), 'start', 'offered')
  local last = ARGV[4] - 1 - (its[1] or 0)
  if last >= 0 and not its[2] and redis.call('ZRANK', key('read', log), me) then
    local lines = redis.call('LRANGE', key('entries', log), digits(last), '-1')
    return is_read(lines[1]) and lines
  end
end

-- Most calls append to a log in which all is as this session has left it: then nothing below is needed.
if verb == 'append' and now >= grace and ends > now then
  local log = ARGV[3]
  -- What ends a session comes behind what it has read; so where that comes last, the session takes part.
  local newest = redis.call('LINDEX', key('entries', log), '-1')
  local lines = is_read(newest) and { newest } or since_read(log)
  if lines then
    local told = tonumber(ARGV[6])
    local begins = write(log, ARGV, 7 + 2 * told)
    if told > 0 then
      lines[1], lines[#lines + 1] = '', digits(stamp) .. ' ' .. ARGV[#ARGV]
      local news = table.concat(lines, '\n')
      for index = 7, 5 + 2 * told, 2 do
        redis.pcall('PUBLISH', key('to', ARGV[index]), ARGV[index + 1] .. news) -- it may be lost
      end
      lines[#lines] = nil
    end
    lines[1] = begins
    take_note()
    return lines -- behind the stamp of the first entry that was appended
  end
end

-- What is known of a log, and of how far this session has read it.
local function look(log)
  local its = redis.call('HMGET', key('log', log), 'start', 'stamp', 'offered')
  local read = redis.call('ZSCORE', key('read', log), me)
  return { start = tonumber(its[1] or 0), stamp = its[2], offered = tonumber(its[3]), read = tonumber(read) }
end

local function start_of(log)
  return tonumber(redis.call('HGET', key('log', log), 'start') or 0)
end

-- What is written into a log about a session; the name says it, too, where what is known of it has been deleted.
local function entry_of(session, verb)
  return redis.call('HGET', key('session', session), verb) or '["' .. verb .. '","' .. session .. '",-1,[]]'
end

local function bury(session)
  for _, log in ipairs(redis.call('SMEMBERS', key('logs', session))) do
    redis.call('ZREM', key('read', log), session)
    local others = redis.call('ZRANGE', key('read', log), 0, -1)
    if #others == 0 then -- what is in a log means something while sessions take part
      redis.call('DEL', key('entries', log), key('log', log))
    else
      write(log, { entry_of(session, 'end') })
    end
    for _, other in ipairs(others) do
      redis.pcall('PUBLISH', key('to', other), log) -- it may be lost
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

local function has_read(log, its, position)
  redis.call('ZADD', key('read', log), 'GT', position, me)
  if not its.offered then
    return
  end
  local slowest = redis.call('ZRANGE', key('read', log), 0, 0, 'WITHSCORES')
  if tonumber(slowest[2]) >= its.offered then
    redis.call('LTRIM', key('entries', log), its.offered - its.start, -1)
    local offer = redis.call('HMGET', key('log', log), 'offered', 'offer_stamp', 'offer')
    redis.call('HSET', key('log', log), 'start', offer[1], 'stamp', offer[2], 'snapshot', offer[3])
    redis.call('HDEL', key('log', log), 'offered', 'offer_stamp', 'offer')
    its.start = its.offered
  end
end

-- The stamp of the entry before a position; false if there is none.
local function stamp_before(log, its, position)
  if position == its.start then
    return its.stamp
  end
  local entry = redis.call('LINDEX', key('entries', log), position - 1 - its.start)
  return entry and entry:match('^%d+')
end

-- Whether the log has lost what the session has read last.
local function has_lost(log, its, position, seen)
  if position == 0 or (its.read and position < its.read) then
    return false -- it has read nothing, or asked long ago
  end
  return not its.read or stamp_before(log, its, position) ~= seen
end

local act = {}

-- What a session is to the server: the entries that are written for it, and its lease.
local function welcome(session, join, ends_with, lease)
  redis.call('HSET', key('session', session), 'join', join, 'end', ends_with)
  redis.call('ZADD', sessions, 'NX', lease, session)
end

-- ttl, version, join, end
function act.open()
  if redis.call('ZCOUNT', sessions, '(0', '+inf') > 0 then
    local version = redis.call('HGET', base, 'version')
    if version ~= ARGV[4] then
      return { 'version', version }
    end
    if known[2] ~= ARGV[3] then
      return { 'ttl', known[2] }
    end
  end
  redis.call('HSET', base, 'ttl', ARGV[3], 'version', ARGV[4])
  welcome(me, ARGV[5], ARGV[6], now + tonumber(ARGV[3]))
  return { 'ok' }
end

-- the same, of a session that was open when the server forgot it
function act.rejoin()
  if now >= grace or known[2] ~= ARGV[3] or redis.call('HGET', base, 'version') ~= ARGV[4] then
    return { 'ended' }
  end
  welcome(me, ARGV[5], ARGV[6], grace)
  return { 'ok' }
end

-- log, position up to which it was read, stamp of the entry before that; how many sessions are to be told, and of
-- each its name and the news that the last of the entries ends; entries
function act.append()
  local log, position = ARGV[3], tonumber(ARGV[4])
  if now < grace then
    return { 'grace', grace - now }
  end
  local its = look(log)
  if has_lost(log, its, position, ARGV[5]) then
    is_over(me)
    return { 'ended' }
  end
  if not its.read then
    redis.call('SADD', key('logs', me), log)
    redis.call('ZADD', key('read', log), position, me)
    write(log, { entry_of(me, 'join') })
  end
  if its.offered then
    has_read(log, its, position)
  end
  local snapshot, before = false, false
  if position < its.start then
    position, before, snapshot = its.start, its.stamp, redis.call('HGET', key('log', log), 'snapshot')
  end
  local lines = redis.call('LRANGE', key('entries', log), position - its.start, -1)
  return { 'ok', position, snapshot, before, write(log, ARGV, 7 + 2 * ARGV[6]), lines }
end

-- of each log: its name, the position up to which it was read, and the stamp of the entry before that
function act.renew()
  local lost = { 'lost' }
  for index = 3, #ARGV, 3 do
    local log, position = ARGV[index], tonumber(ARGV[index + 1])
    local its = look(log)
    if has_lost(log, its, position, ARGV[index + 2]) then
      lost[#lost + 1] = log
    else
      has_read(log, its, position)
    end
  end
  if #lost > 1 then
    if now >= grace then
      is_over(me)
      return { 'ended' }
    end
    return lost
  end
  redis.call('ZADD', sessions, now + ttl, me)
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

-- Take what a session has read in place of what there is. All others have read less of the same, or come later.
local function bring_back(log)
  local former, read, first = {}, key('read', log), 12 + 3 * tonumber(ARGV[12])
  local start, offered = tonumber(ARGV[6]), tonumber(ARGV[9])
  for _, session in ipairs(redis.call('ZRANGE', read, 0, -1)) do
    former[session] = redis.call('ZSCORE', read, session)
    redis.call('SREM', key('logs', session), log)
  end
  redis.call('DEL', key('entries', log), key('log', log), read)
  redis.call('HSET', key('log', log), 'start', start, 'stamp', ARGV[7], 'snapshot', ARGV[8])
  if offered > start then
    redis.call('HSET', key('log', log), 'offered', offered, 'offer_stamp', ARGV[10], 'offer', ARGV[11])
  end
  for index = 13, first, 3 do
    local session = ARGV[index]
    welcome(session, ARGV[index + 1], ARGV[index + 2], grace)
    redis.call('SADD', key('logs', session), log)
    redis.call('ZADD', read, math.max(start, tonumber(former[session] or 0)), session)
  end
  for index = first + 1, #ARGV do
    redis.call('RPUSH', key('entries', log), ARGV[index])
  end
  stamp = math.max(stamp, tonumber(ARGV[5]))
end

-- log, position up to which it was read, stamp of the entry before that; then what was read: where it starts,
-- the stamp and the state before; the same of where replicas compared last; how many sessions there are, and
-- of each its name, join and end; "<stamp> <entry>" of each entry
function act.restore()
  local log, position, seen = ARGV[3], tonumber(ARGV[4]), ARGV[5]
  local its = look(log)
  local ends = its.start + redis.call('LLEN', key('entries', log))
  local goes_further = tonumber(seen) > tonumber(stamp_before(log, its, ends) or 0)
  if goes_further and now < grace then
    bring_back(log)
  end
  if has_lost(log, look(log), position, seen) then
    is_over(me)
    return { 'ended' }
  end
  return { 'ok' }
end

-- log, position, state there, entry by which others compare
function act.compact()
  local log, position = ARGV[3], tonumber(ARGV[4])
  local its = look(log)
  local ends = its.start + redis.call('LLEN', key('entries', log))
  if now >= grace and not its.offered and ends == position then
    local last = stamp_before(log, its, position)
    redis.call('HSET', key('log', log), 'offered', position, 'offer_stamp', last, 'offer', ARGV[5])
    write(log, { ARGV[6] })
  end
  return { 'ok' }
end

function act.close()
  is_over(me)
  return { 'ok' }
end

if verb ~= 'append' and now >= grace then -- there is always a renewal soon
  for _, session in ipairs(redis.call('ZRANGE', sessions, '-inf', now, 'BYSCORE')) do
    bury(session)
  end
end
local reply = { 'ended' }
if verb == 'open' or ends > now or (ends > 0 and now < grace) or verb == 'rejoin' and not lease then
  reply = act[verb]()
elseif not lease and now < grace then
  reply = { 'unknown' }
end
take_note()
return reply
