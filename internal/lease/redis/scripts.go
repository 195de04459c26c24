package redis

// A script is one that the server runs at once, with its keys before its other arguments. It is
// sent whole each time: it is small, and one command is easier to lose and to repeat than two.
type script struct {
	keys int
	text string
}

// Every script answers the lease that stands afterwards, as its value and the server's time in
// milliseconds at which it runs out, or an empty list.

// shared are the functions that the scripts use: the standing lease with its parts, the answer, and
// whether a lease is a process's: with token 0 it is of the worker and the nonce, else of the
// worker with that token. A process is written "worker nonce", or "worker" without a nonce.
//
// Redis refuses commands of more than ten words before a login, without saying that it wants one:
// no script has more than seven keys and arguments.
const shared = `
local function standing(key)
  local value = redis.call('GET', key)
  if not value then return nil end
  local token, ttl, process = value:match('^(%d+) (%d+) (%S.*)$')
  return {value = value, token = token, process = process, worker = process:match('^%S+')}
end
local function answer(key, value)
  local now = redis.call('TIME')
  return {value, string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000) + redis.call('PTTL', key))}
end
local function own(lease, process, token)
  if not lease then return false end
  if token == '0' then return lease.process == process end
  return lease.token == token and lease.worker == process:match('^%S+')
end
local function give(key, token, ttl, process)
  local value = token .. ' ' .. ttl .. ' ' .. process
  redis.call('SET', key, value, 'PX', ttl)
  return answer(key, value)
end
`

// acquire takes KEYS[1] for the process ARGV[1], for ARGV[2] milliseconds, with the next number of
// KEYS[2] as its token, unless somebody has it. ARGV[3] is two numbers in one word, because Redis
// takes ten words from a client that is not logged in, and the eleventh is no error that says so:
// the token under which another process of the worker has what is taken over, and the number above
// which the token has to be. A worker or process that is recorded as ended at KEYS[3] or KEYS[4]
// gets nothing.
var acquire = script{4, shared + `
local takes, above = ARGV[3]:match('^(%d+)/(%d+)$')
local has = standing(KEYS[1])
if own(has, ARGV[1], '0') then return give(KEYS[1], has.token, ARGV[2], ARGV[1]) end
if has and not (takes ~= '0' and own(has, ARGV[1], takes)) then return answer(KEYS[1], has.value) end
if redis.call('EXISTS', KEYS[3], KEYS[4]) > 0 then return {} end
if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(above) then redis.call('SET', KEYS[2], above) end
return give(KEYS[1], string.format('%.0f', redis.call('INCR', KEYS[2])), ARGV[2], ARGV[1])
`}

// renew restarts KEYS[1], ARGV[2] milliseconds from here, if it is still of the worker of the
// process ARGV[1] with the token ARGV[3].
var renew = script{1, shared + `
local has = standing(KEYS[1])
if not own(has, ARGV[1], ARGV[3]) then return {} end
return give(KEYS[1], has.token, ARGV[2], has.process)
`}

// release deletes KEYS[1] if it is still of the worker of the process ARGV[1] with the token
// ARGV[3], and records at KEYS[2], for ARGV[2] milliseconds, that the worker, or without a token
// the process, is done.
var release = script{2, shared + `
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
if own(standing(KEYS[1]), ARGV[1], ARGV[3]) then redis.call('DEL', KEYS[1]) end
return {}
`}

// probe writes KEYS[1] for ARGV[1] milliseconds.
var probe = script{1, `return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])`}

// look only reads.
var look = script{1, shared + `
local has = standing(KEYS[1])
if not has then return {} end
return answer(KEYS[1], has.value)
`}
