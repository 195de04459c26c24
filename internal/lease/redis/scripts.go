package redis

// A script is one that the server runs at once, with its keys before its other arguments. It is sent whole each time: it is small,
// and one command is easier to lose and to repeat than two.
type script struct {
	keys int
	text string
}

// Every script answers the lease that stands afterwards, as its value and the server's time in
// milliseconds at which it runs out, or an empty list.

// shared are the functions that the scripts use: the standing lease with its parts, the answer, and
// whether a lease is the caller's. A token of 0 is any.
const shared = `
local function standing(key)
  local value = redis.call('GET', key)
  if not value then return nil end
  local token, ttl, worker = value:match('^(%d+) (%d+) (%S+)$')
  return {value = value, token = token, worker = worker}
end
local function answer(key, value)
  local now = redis.call('TIME')
  return {value, string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000) + redis.call('PTTL', key))}
end
local function own(lease, worker, token)
  return lease and lease.worker == worker and (token == '0' or lease.token == token)
end
`

// acquire takes KEYS[1] for the worker ARGV[1] for ARGV[2] milliseconds, with the next number of
// KEYS[2] as its token, unless somebody has it. A worker that is recorded as ended at KEYS[3] gets nothing.
var acquire = script{3, shared + `
local has = standing(KEYS[1])
if has and has.worker ~= ARGV[1] then return answer(KEYS[1], has.value) end
local token
if has then
  token = has.token
elseif redis.call('EXISTS', KEYS[3]) == 1 then
  return {}
else
  token = string.format('%.0f', redis.call('INCR', KEYS[2]))
end
local value = token .. ' ' .. ARGV[2] .. ' ' .. ARGV[1]
redis.call('SET', KEYS[1], value, 'PX', ARGV[2])
return answer(KEYS[1], value)
`}

// renew counts KEYS[1] anew, ARGV[2] milliseconds from here, if it is still the worker ARGV[1]'s
// with the token ARGV[3].
var renew = script{1, shared + `
local has = standing(KEYS[1])
if not own(has, ARGV[1], ARGV[3]) then return {} end
local value = has.token .. ' ' .. ARGV[2] .. ' ' .. ARGV[1]
redis.call('SET', KEYS[1], value, 'PX', ARGV[2])
return answer(KEYS[1], value)
`}

// release deletes KEYS[1] if it is still the worker ARGV[1]'s with the token ARGV[3], and records
// at KEYS[2], for ARGV[2] milliseconds, that the worker is done.
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
