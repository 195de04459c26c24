// Records: what a comment's text says (spec.md#records, spec-writing.md#writing-a-record).
//
// Texts are byte strings here: one character for each octet (latin1), so that octets that are not UTF-8 survive.

const KINDS = ['claim', 'release', 'revoke', 'plan', 'approve', 'reject', 'reset', 'unlink'];
const INT32 = 2147483647n;
const SAFE = 9007199254740991n;
const YEAR_ZERO = Date.parse('0000-01-01T00:00:00Z');
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00Z');
const YEAR_ONE = Date.parse('0001-01-01T00:00:00Z');

// "Fields": the table in its order, each with how a value is read. A reader of a value returns undefined for "invalid".
const word = (v) => v;
const only = (...allowed) => (v) => (allowed.includes(v) ? v : undefined);
const FIELDS = {
  codename: word,
  firing_id: word,
  outcome: word,
  by: word,
  reason: word,
  pr: word,
  link: only('closes'),
  restart: only('yes'),
  stage: word,
  ts: time,
  nonce: word,
  resumes: word,
  ttl: duration,
  attempt: number(INT32),
  not_before: time,
  state: only('held'),
  hb: number(INT32),
  token: number(SAFE),
  lease: word,
  branch: word,
  bundle: word,
  was: word,
  person: word,
  assignee: word,
  forced: word,
};
const ALIASES = new Map([['pr_url', 'pr'], ['swept_by', 'by']]);

function number(most) {
  return (v) => {
    if (!/^[0-9]+$/.test(v)) return undefined;
    const n = BigInt(v);
    return n === 0n || n > most ? undefined : Number(n);
  };
}

// A ttl in seconds; Infinity is "none".
function duration(v) {
  if (v === 'none') return Infinity;
  const m = /^([0-9]+)([smh]?)$/.exec(v);
  if (!m) return undefined;
  const seconds = BigInt(m[1]) * { '': 1n, s: 1n, m: 60n, h: 3600n }[m[2]];
  return seconds === 0n || seconds > INT32 ? undefined : Number(seconds);
}

// RFC 3339 with a capital T and Z, as milliseconds since 1970, cut to whole seconds.
export function time(v) {
  const m = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(v);
  if (!m) return undefined;
  const [, year, month, day, hour, minute, second, zone] = m;
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(local) || hour === '24' || !new Date(local).toISOString().includes(`-${month}-${day}T`)) return undefined;
  let offset = 0;
  if (zone !== 'Z') {
    const [h, min] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
    if (h > 23 || min > 59) return undefined;
    offset = (zone[0] === '-' ? -1 : 1) * (h * 60 + min) * 60000;
  }
  const t = local - offset;
  return t === YEAR_ONE || t < YEAR_ZERO || t >= YEAR_10000 ? undefined : t;
}

// "Reading": a record {kind, fields, other}, or {talk: true}, or {ignored: why}. `other` has the fields that are not known.
export function decode(text) {
  const [, space] = /^(?:\xef\xbb\xbf)?([ \t\n\v\f\r]*)/.exec(text);
  const start = text.startsWith('\xef\xbb\xbf') ? 3 + space.length : space.length;
  if (!text.startsWith('<!-- agent-', start)) return { talk: true };
  let column = 0;
  for (const c of space.slice(Math.max(space.lastIndexOf('\n'), space.lastIndexOf('\r')) + 1)) {
    column = c === '\t' ? column + 4 - (column % 4) : column + 1;
  }
  if (column >= 4) return { talk: true };

  const begin = start + '<!-- agent-'.length;
  const end = text.indexOf('-->', begin);
  if (end < 0) return { ignored: 'no end' };
  const body = text.slice(begin, end);
  const colon = body.indexOf(':');
  const kind = body.slice(0, Math.max(colon, 0));
  if (!KINDS.includes(kind)) return { ignored: 'unknown kind' };

  const raw = new Map();
  for (const token of body.slice(colon + 1).split(/[ \t\n\v\f\r]+/)) {
    const equals = token.indexOf('=');
    if (equals < 0) continue;
    const name = token.slice(0, equals);
    const key = ALIASES.get(name) ?? name;
    if (!/^[a-z_]+$/.test(key) || raw.has(key)) continue;
    raw.set(key, unescape(token.slice(equals + 1)));
  }
  for (const key of ['codename', 'firing_id']) {
    const value = raw.get(key) ?? '';
    if (value === '') return { ignored: `no ${key}` };
    if (value.length > 256) return { ignored: `${key} too long` };
  }
  const fields = {};
  const other = [];
  for (const [key, value] of raw) {
    if (!Object.hasOwn(FIELDS, key)) {
      other.push([key, value]);
      continue;
    }
    const read = value === '' ? undefined : FIELDS[key](value);
    if (read !== undefined) fields[key] = read;
  }
  return { kind, fields, other };
}

export const unescape = (v) => v.replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));

// "Writing": every octet of what could be misread is percent-encoded.
export function escape(value) {
  let out = '';
  for (let i = 0; i < value.length; ) {
    const n = utf8Length(value, i);
    const octets = value.slice(i, i + Math.max(n, 1));
    const char = n ? Buffer.from(octets, 'latin1').toString('utf8') : '';
    if (/^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char) && !'%<>'.includes(char)) out += octets;
    else for (const c of octets) out += `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    i += octets.length;
  }
  return out;
}

// Length of the UTF-8 character at i, 0 if there is none.
function utf8Length(s, i) {
  const c = s.charCodeAt(i);
  const n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
  const octets = s.slice(i, i + n);
  const text = Buffer.from(octets, 'latin1').toString('utf8');
  return n && octets.length === n && Buffer.from(text, 'utf8').toString('latin1') === octets ? n : 0;
}

// The comment's first line for a record, or an error if a reader would not read it back.
export function encode({ kind, fields, other = [] }) {
  const tokens = [];
  for (const key of Object.keys(FIELDS)) {
    const value = key === 'hb' && fields.state ? fields.hb ?? 0 : fields[key];
    if (value !== undefined) tokens.push(`${key}=${escape(show(key, value))}`);
  }
  for (const [key, value] of other) tokens.push(`${key}=${escape(value)}`);
  const text = `<!-- agent-${kind}:${tokens.join(' ')} -->`;
  const back = decode(text);
  const same = (a) => JSON.stringify([a.kind, Object.keys(FIELDS).map((k) => String(a.fields?.[k])), a.other]);
  if (same(back) !== same({ kind, fields, other })) throw new Error('cannot be read back');
  if (text.length > 8192) throw new Error('too long');
  return text;
}

export function show(key, value) {
  if (value === Infinity) return 'none';
  if (FIELDS[key] === time) return rfc3339(value);
  return String(value);
}

export const rfc3339 = (t) => new Date(t).toISOString().replace('.000Z', 'Z');
