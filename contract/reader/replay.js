// The log of an issue (spec.md, "The log"): which comments count, their order, the fold, and what follows from it.
//
// A comment is {id, author, at, edited, editors, counts, body}: times in milliseconds, `editors` the logins that edited it (if that is
// known), `counts` whether its author counts.

import { decode } from './records.js';
import { fnv1a, rest } from './rest.js';

export const DEFAULTS = {
  ttl: 4 * 3600, legacy: 4 * 3600, max_ttl: 24 * 3600, pending: 120, bundle: 600, grace: 60, plan_timeout: 24 * 3600, stray: 600,
  max_attempts: 3, rest: [120, 600, 1800, 7200], exclude_labels: ['blocked', 'wip'], on_reopen: 'none', outsider_issues: 3,
};
const FAILED = ['failure', 'partial', 'no-commit', 'max-turns', 'error', 'stale-swept'];

// "Equal" without case: texts are octets, and a letter with one capital is folded with it.
const utf8 = (s) => Buffer.from(s, 'latin1').toString('utf8');
export const lower = (s) => [...utf8(s ?? '')].map((c) => (c.toUpperCase().length === c.length ? c.toUpperCase() : c).toLowerCase()).join('');
export const same = (a, b) => lower(a) === lower(b);
export const isApp = (login) => lower(login).endsWith('[bot]');

// "Order" and "Which records count": the records that count, in order, and the comments that are ignored.
export function readLog(comments, { stageLocks = false } = {}) {
  const versions = new Map();
  for (const c of comments) {
    const old = versions.get(c.id);
    const later = old && (c.edited !== old.edited ? c.edited > old.edited : c.body < old.body);
    if (!old || later) versions.set(c.id, c);
  }
  const ordered = [...versions.values()].sort((a, b) => a.at - b.at || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  const records = [];
  const ignored = [];
  ordered.forEach((comment, rank) => {
    const read = (stageLocks && stageLock(comment.body)) || decode(comment.body);
    if (read.talk) return;
    if (read.ignored) ignored.push({ comment, rank, why: read.ignored });
    else if (!comment.counts) ignored.push({ comment, rank, why: 'author does not count' });
    else if ((comment.editors ?? []).some((e) => !same(e, comment.author))) ignored.push({ comment, rank, why: 'edited by another' });
    else records.push({ ...read, comment, rank });
  });
  return { records, ignored };
}

// "Pipelines", 7: a comment of the older stage locks, read as a claim without nonce.
function stageLock(body) {
  const m = /^<!-- claim run=([A-Za-z0-9][A-Za-z0-9._:-]{0,127})(?: ttl=([0-9]+)s)? -->/.exec(body);
  if (!m) return null;
  const ttl = m[2] && decode(`<!-- agent-claim:codename=x firing_id=x ttl=${m[2]} -->`).fields.ttl;
  return { kind: 'claim', fields: { codename: 'stage-lock', firing_id: m[1], ...(ttl && { ttl }) }, other: [] };
}

export const keyOf = (r) => `${r.fields.codename}:${r.fields.firing_id}`;
const mapKey = (r) => `${r.fields.codename}\0${r.fields.firing_id}`;

// "Fold": the state that the records say.
export function fold({ records, ignored = [] }) {
  const claims = new Map();
  const tombstones = new Map();
  ignored = [...ignored];
  const ignore = (r, why) => ignored.push({ comment: r.comment, rank: r.rank, why, record: r });

  for (const r of records) {
    if (r.kind !== 'claim') continue;
    const f = r.fields;
    const onBehalf = f.lease !== undefined && f.by !== undefined;
    let c = claims.get(mapKey(r));
    if (c && !onBehalf && c.author !== null && !same(c.author, r.comment.author)) {
      ignore(r, 'claim of another login');
      continue;
    }
    if (!c) {
      c = { key: keyOf(r), id: r.comment.id, rank: r.rank, at: r.comment.at, author: null, signed: -1, fields: f, head: r, comments: [], confirmed: false, nonceless: false, hb: 0, token: 0, last: 0, plan: null, end: null, revoke: null };
      claims.set(mapKey(r), c);
    }
    if (!onBehalf && c.author === null) Object.assign(c, { author: r.comment.author, signed: c.comments.length ? r.rank : -1, fields: f, head: r });
    c.comments.push(r);
    if (f.nonce === undefined) c.nonceless = true;
    if (f.state === 'held' || f.nonce === undefined) c.confirmed = true;
    c.hb = Math.max(c.hb, f.hb ?? 0);
    c.token = Math.max(c.token, f.token ?? 0);
    c.last = Math.max(c.last, r.comment.edited);
    if (!onBehalf) c.assignee ??= f.assignee;
  }

  const state = { claims: [...claims.values()].sort((a, b) => a.rank - b.rank), tombstones, ignored, records, reset: null, restart: null, stage: undefined, stageRecord: null };
  const unlinked = new Set();
  for (const r of records) {
    if (r.kind === 'claim') continue;
    const c = claims.get(mapKey(r));
    const by = r.fields.by !== undefined;
    const live = c && !c.end;
    const author = c && c.author !== null && same(c.author, r.comment.author);
    const waits = c?.plan && !c.plan.approved;
    const effects = {
      release() {
        if (!c) {
          if (!tombstones.has(mapKey(r))) tombstones.set(mapKey(r), []);
          tombstones.get(mapKey(r)).push(r);
          if (by) moveTo(r);
          return true;
        }
        if (!author && !by && c.author !== null && r.rank > c.signed) return false;
        if (live) {
          c.end = { record: r, rank: r.rank, at: r.comment.at, outcome: r.fields.outcome };
          moveTo(r);
        }
        return true;
      },
      plan() {
        if (!live || !c.confirmed || !author) return false;
        c.plan = { at: r.comment.at, approved: null };
        c.planned = true;
        return true;
      },
      approve() {
        if (!by || !live || !waits) return false;
        Object.assign(c.plan, { approved: r.comment.at, answer: 'approved', answeredBy: r.fields.by });
        return true;
      },
      reject() {
        if (!by || !live || !waits) return false;
        c.end = { record: r, rank: r.rank, at: r.comment.at, outcome: 'plan-rejected' };
        Object.assign(c.plan, { answer: 'rejected', answeredBy: r.fields.by });
        return true;
      },
      revoke() {
        if (!by || !live) return false;
        c.revoke ??= r;
        return true;
      },
      reset() {
        if (!by) return false;
        state.reset = r;
        if (r.fields.restart) state.restart = r;
        return true;
      },
      unlink() {
        const end = c?.end?.record;
        if (!by || end?.kind !== 'release' || !end.fields.pr || end.fields.pr !== r.fields.pr || unlinked.has(end)) return false;
        unlinked.add(end);
        c.unlinked = true;
        return true;
      },
    };
    if (!effects[r.kind]()) ignore(r, `${r.kind} that does not count`);
  }
  function moveTo(r) {
    if (r.fields.stage !== undefined) Object.assign(state, { stage: r.fields.stage, stageRecord: r });
  }
  if (state.stage === undefined) {
    const own = state.claims.flatMap((c) => c.comments.filter((r) => r.fields.stage !== undefined && c.author !== null && same(r.comment.author, c.author)));
    const first = own.sort((a, b) => a.rank - b.rank)[0];
    if (first) Object.assign(state, { stage: first.fields.stage, stageRecord: first });
  }

  for (const c of state.claims) {
    c.provisional = c.fields.bundle !== undefined && c.hb === 0;
    c.undone = Boolean(c.end) && (c.provisional || c.end.outcome === 'bundle-claim-rolled-back');
    c.waits = Boolean(c.plan && !c.plan.approved);
    c.person = person(c);
    if (c.author === null) c.assignee = c.fields.assignee;
  }
  const ended = state.claims.filter((c) => c.end).sort((a, b) => a.end.rank - b.end.rank);
  const live = state.claims.filter((c) => !c.end);
  state.ended = ended;
  state.live = live;
  state.holder = live.find((c) => c.confirmed) ?? live[0] ?? null;
  state.index = new Set([...claims.keys(), ...tombstones.keys()]).size + state.claims.filter((c) => c.confirmed).length + ended.length;
  const afterReset = ended.filter((c) => !state.reset || c.end.rank > state.reset.rank);
  state.attempts = afterReset.filter((c) => c.confirmed && !c.undone && FAILED.includes(c.end.outcome));
  state.afterReset = afterReset;
  // What the fold ignores is not in the log.
  const without = new Set(ignored.map((i) => i.record));
  state.records = records.filter((r) => !without.has(r));
  state.lastRecord = state.records.at(-1) ?? null;
  // Pull requests that the log names ("Facts of a pull request"), each with its newest naming.
  state.named = new Map();
  for (const r of ended.map((c) => c.end.record)) {
    if (r.kind !== 'release' || r.fields.pr === undefined || unlinked.has(r)) continue;
    state.named.delete(r.fields.pr);
    state.named.set(r.fields.pr, r);
  }
  return state;
}

// "People": the login whose hold a claim is, if it is a person's.
function person(c) {
  const { person: login, by } = c.fields;
  const author = c.head.comment.author;
  if (c.author === null || login === undefined || isApp(login)) return undefined;
  if (same(login, author)) return author;
  return isApp(author) && same(by, login) ? login : undefined;
}

// "Leases", in seconds; Infinity has no end.
export function lease(c, p = DEFAULTS) {
  let s = c.fields.ttl ?? (c.nonceless ? p.legacy : p.ttl);
  if (s !== Infinity) s = Math.min(s, p.max_ttl);
  if (!c.confirmed) s = Math.min(s, p.pending);
  if (c.provisional && c.fields.lease === undefined) s = Math.min(s, p.bundle);
  return s;
}

// The moment at which a live claim's lease is over, in milliseconds.
export function endOf(c, p = DEFAULTS) {
  const s = lease(c, p);
  if (s === Infinity) return Infinity;
  const limit = c.plan && c.plan.at + p.plan_timeout * 1000;
  if (c.plan && (c.waits || c.plan.approved > limit)) return limit;
  return Math.max(c.last, c.plan?.approved ?? 0) + s * 1000;
}
export const overdue = (c, now, p = DEFAULTS) => now > endOf(c, p);
export const expired = (c, now, p = DEFAULTS) => now >= endOf(c, p) + p.grace * 1000;

// "Back-off": the moment until which the issue rests, 0 if it does not.
export function restsUntil(state, p = DEFAULTS) {
  let until = 0;
  const n = state.attempts.length;
  if (n > 0 && p.rest.length > 0) {
    const c = state.attempts[n - 1];
    until = c.end.at + rest(c.key, p.rest[Math.min(n, p.rest.length) - 1] * 1000);
  }
  for (const c of state.afterReset) until = Math.max(until, c.end.record.kind === 'release' ? c.end.record.fields.not_before ?? 0 : 0);
  return until;
}
export { fnv1a };

// "The fencing token" of the key, with its claim counted as confirmed.
export function token(state, key) {
  const own = state.claims.find((c) => c.key === key);
  const others = Math.max(0, ...state.claims.filter((c) => c !== own).map((c) => c.token));
  if (own && own.token > others) return own.token;
  const index = state.index + (own?.confirmed ? 0 : 1);
  return Math.min(Math.max(index, others + 1), Number.MAX_SAFE_INTEGER);
}

// May a caller that shows the token n act as the key?
export function accepts(state, key, n) {
  const own = state.claims.find((c) => c.key === key);
  const others = Math.max(0, ...state.claims.filter((c) => c !== own).map((c) => c.token));
  if (n === 0) return true;
  return own?.token ? n === own.token : n > others && n <= state.index;
}

// "The fencing token": may a caller with that login renew, complete or release the claim of a key?
export function actsAs(state, key, login) {
  const own = state.claims.find((c) => c.key === key);
  return !own || own.author === null || same(own.author, login);
}

// "Expire": the outcome with which anybody records the end of an expired claim.
export function expiredAs(c, closed) {
  if (closed || c.fields.codename === 'stage-lock') return 'cancelled';
  if (c.waits) return 'plan-timeout';
  if (c.provisional) return 'bundle-claim-rolled-back';
  return 'stale-swept';
}

// "Projection": the log without undone claims and tombstones and people's claims. Where a person holds the issue, nothing in it is live.
export function forLabels(state) {
  const out = new Set();
  for (const c of state.claims) {
    if (c.undone || c.person !== undefined) out.add(mapKey(c.head));
  }
  for (const [key, releases] of state.tombstones) {
    if (releases.some((r) => r.fields.outcome === 'bundle-claim-rolled-back')) out.add(key);
  }
  const log = fold({ records: state.records.filter((r) => r.kind === 'reset' || !out.has(mapKey(r))) });
  return state.holder?.person === undefined ? log : { ...log, claims: log.claims.filter((c) => c.end), live: [], holder: null };
}
