// The log of an issue (spec.md#the-log): which comments count, their order, the fold, and what follows from it.
//
// A comment is {id, author, at, edited, editors, counts, body}: times in milliseconds, `editors` the logins that edited it (if that is
// known), `counts` whether its author counts.

import { decode } from './records.js';
import { fnv1a, rest } from './rest.js';

export const DEFAULTS = {
  ttl: 4 * 3600, legacy: 4 * 3600, max_ttl: 24 * 3600, pending: 120, bundle: 600, grace: 60, plan_timeout: 24 * 3600, stray: 600,
  max_attempts: 3, rest: [120, 600, 1800, 7200], exclude_labels: ['blocked', 'wip'], on_reopen: 'none', outsider_issues: 3, nudge: 14 * 24 * 3600,
  assignee_ttl: 0, assigned_bot_ttl: 2 * 3600,
};
const FAILED = ['failure', 'partial', 'no-commit', 'max-turns', 'error', 'stale-swept'];

// "Equal" without case: texts are octets, and a letter with one capital is folded with it.
const utf8 = (s) => Buffer.from(s, 'latin1').toString('utf8');
export const lower = (s) => [...utf8(s ?? '')].map((c) => (c.toUpperCase().length === c.length ? c.toUpperCase() : c).toLowerCase()).join('');
export const same = (a, b) => lower(a) === lower(b);
export const isApp = (login) => lower(login).endsWith('[bot]');

// "Order" and "Which records count": the records that count, in order, and the comments that are ignored.
export function readLog(comments) {
  const versions = new Map();
  for (const c of comments) {
    const old = versions.get(c.id);
    const later = old && (c.edited !== old.edited ? c.edited > old.edited : c.body < old.body);
    if (!old || later) versions.set(c.id, c);
  }
  const ordered = [...versions.values()].sort((a, b) => a.at - b.at || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  const records = [];
  const ignored = [];
  const talk = []; // a person's is a sign of life ("People", 3)
  ordered.forEach((comment, rank) => {
    const read = decode(comment.body);
    if (read.talk) talk.push(comment);
    else if (read.ignored) ignored.push({ comment, rank, why: read.ignored });
    else if (!comment.counts) ignored.push({ comment, rank, why: 'author does not count' });
    else if ((comment.editors ?? []).some((e) => !same(e, comment.author))) ignored.push({ comment, rank, why: 'edited by another' });
    else records.push({ ...read, comment, rank });
  });
  return { records, ignored, talk };
}

export const keyOf = (r) => `${r.fields.codename}:${r.fields.firing_id}`;
const mapKey = (r) => `${r.fields.codename}\0${r.fields.firing_id}`;

// "Fold": the state that the records say.
export function fold({ records, ignored = [], talk = [] }) {
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
      c = { key: keyOf(r), author: null, signed: -1, comments: [], bids: [], behalf: null, plan: null, end: null, ending: null, released: false, revoke: null };
      claims.set(mapKey(r), c);
    }
    let bid = onBehalf ? c.behalf : c.bids.find((b) => b.nonce === f.nonce);
    if (!bid) {
      bid = { nonce: f.nonce, resumes: f.resumes, head: r, rank: r.rank, at: r.comment.at, id: r.comment.id, ids: [], ranks: [], confirmed: false, nonceless: false, hb: 0, token: 0, last: 0, ended: false };
      if (onBehalf) c.behalf = bid;
      else {
        if (c.author === null) Object.assign(c, { author: r.comment.author, signed: c.comments.length ? r.rank : -1 });
        c.bids.push(bid);
      }
    }
    c.comments.push(r);
    bid.ids.push(r.comment.id);
    bid.ranks.push(r.rank);
    if (f.nonce === undefined) bid.nonceless = true;
    if (f.state === 'held' || f.nonce === undefined) bid.confirmed = true;
    bid.hb = Math.max(bid.hb, f.hb ?? 0);
    bid.token = Math.max(bid.token, f.token ?? 0);
    bid.last = Math.max(bid.last, r.comment.edited);
    if (!onBehalf) c.assignee ??= f.assignee;
  }
  for (const c of claims.values()) settle(c);

  const state = { claims: [...claims.values()], tombstones, ignored, records, reset: null, restart: null, stage: undefined, stageRecord: null };
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
        c.released = true;
        if (r.fields.nonce === undefined) c.ending ??= { record: r, said: said(c) };
        for (const b of c.bids) b.ended ||= ends(r, b);
        if (c.bids.some((b) => !b.ended)) {
          settle(c);
          return true;
        }
        if (live) {
          if (c.ending) Object.assign(c, c.ending.said);
          const how = c.ending?.record ?? r;
          c.end = { record: how, rank: how.rank, at: how.comment.at, outcome: how.fields.outcome };
          moveTo(how);
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
        for (const b of c.bids) b.ended = true;
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
        if (c) c.reset = true;
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

  state.said = (login) => Math.max(0, ...talk.filter((m) => same(m.author, login)).map((m) => m.at));
  state.claims.sort((a, b) => a.rank - b.rank);
  for (const c of state.claims) {
    c.provisional = c.fields.bundle !== undefined && c.hb === 0;
    c.undone = Boolean(c.end) && (c.provisional || c.end.outcome === 'bundle-claim-rolled-back');
    c.waits = Boolean(c.plan && !c.plan.approved);
    c.person = person(c);
    c.said = c.person === undefined ? 0 : state.said(c.person);
    if (c.author === null) c.assignee = c.fields.assignee;
  }
  const ended = state.claims.filter((c) => c.end).sort((a, b) => a.end.rank - b.end.rank);
  const live = state.claims.filter((c) => !c.end);
  state.ended = ended;
  state.live = live;
  state.holder = live.find((c) => c.confirmed) ?? live[0] ?? null;
  state.index = new Set([...claims.keys(), ...tombstones.keys()]).size + state.claims.filter((c) => c.confirmed || c.bids.some((b) => b.confirmed)).length + state.claims.filter((c) => c.end || c.released).length;
  const afterReset = ended.filter((c) => !state.reset || c.end.rank > state.reset.rank);
  state.attempts = afterReset.filter((c) => c.confirmed && !c.undone && FAILED.includes(c.end.outcome) && !((c.person !== undefined || c.reset) && c.end.outcome === 'stale-swept'));
  state.afterReset = afterReset;
  // What the fold ignores is not in the log.
  const without = new Set(ignored.map((i) => i.record));
  state.records = records.filter((r) => !without.has(r));
  state.releases = state.records.filter((r) => r.kind === 'release');
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

// "Bids": what a claim says by them, unless a record has ended it.
function settle(c) {
  const standing = c.bids.some((b) => !b.ended) ? c.bids.filter((b) => !b.ended) : c.bids;
  const first = standing.find((b) => b.confirmed) ?? standing[0];
  const has = standing.find((b) => b.confirmed && !standing.some((s) => replaces(s, b))) ?? first;
  const all = [has, c.behalf].filter(Boolean);
  const place = [first, c.behalf].filter(Boolean).sort((a, b) => a.rank - b.rank)[0];
  Object.assign(c, {
    rank: place.rank, at: place.at, id: place.id, head: (has ?? c.behalf).head, fields: (has ?? c.behalf).head.fields, bid: has ?? null,
    confirmed: all.some((b) => b.confirmed), nonceless: all.some((b) => b.nonceless), token: Math.max(...all.map((b) => b.token)),
    hb: Math.max(...[...standing, c.behalf].filter(Boolean).map((b) => b.hb)), last: Math.max(...[...standing, c.behalf].filter(Boolean).map((b) => b.last)),
  });
}
const said = ({ rank, at, id, head, fields, bid, confirmed, nonceless, token }) => ({ rank, at, id, head, fields, bid, confirmed, nonceless, token });

// Does the bid take over from the other as soon as it is confirmed?
const succeeds = (b, o) => b.resumes !== undefined && o.rank < b.rank && o.resumes !== b.resumes;
const replaces = (b, o) => b.confirmed && succeeds(b, o);

// Does the release end the bid?
function ends({ fields: { nonce, token } }, b) {
  if (nonce !== undefined) return b.nonce === nonce;
  return token === undefined || b.resumes === undefined || (b.token > 0 && b.token <= token);
}

// R1, or R2 if the bid is confirmed: the place of a bid among all live ones. `id` is its bound comment.
export function contends(state, key, nonce, id) {
  const own = state.claims.find((c) => c.key === key);
  const bid = own?.bids.find((b) => b.nonce === nonce);
  if (!bid) {
    const ended = state.releases.some((r) => keyOf(r) === key && (r.fields.nonce === undefined || r.fields.nonce === nonce));
    return ended ? 'over' : 'unseen';
  }
  if (bid.ended) return 'over';
  const rank = id === undefined ? bid.rank : bid.ranks[bid.ids.indexOf(id)];
  const me = { ...bid, rank };
  const rivals = [];
  for (const c of state.live) {
    for (const b of c.bids) if (!b.ended && b !== bid) rivals.push({ c, b });
    if (c !== own && c.behalf) rivals.push({ c, b: { ...c.behalf, rank: c.rank, confirmed: c.confirmed } });
  }
  rivals.sort((x, y) => x.b.rank - y.b.rank);
  const places = { shared: [], beaten: [], waiting: [] };
  for (const { c, b } of rivals) {
    const sibling = c === own;
    const earlier = b.rank < rank;
    if (sibling && succeeds(me, b)) continue;
    if (bid.confirmed ? (earlier && b.confirmed) || (sibling && replaces(b, me)) : earlier || b.confirmed) places[sibling ? 'shared' : 'beaten'].push({ c, b });
    else if (earlier) places.waiting.push({ c, b });
  }
  for (const [place, [lost]] of Object.entries(places)) if (lost) return `${place} ${lost.c.key}/${lost.b.nonce ?? ''}`;
  return 'first';
}

// "People": the login whose hold a claim is, if it is a person's.
function person(c) {
  const { person: login, by } = c.fields;
  const author = c.head.comment.author;
  if (c.author === null || login === undefined || isApp(login)) return undefined;
  if (same(login, author)) return author;
  return isApp(author) && same(by, login) ? login : undefined;
}

// "Leases", in seconds; Infinity has no end. Of a claim, or of one of its bids.
export function lease(c, p = DEFAULTS, bid = c) {
  const fields = bid.fields ?? bid.head.fields;
  let s = fields.ttl ?? (bid.nonceless || c.behalf?.nonceless ? p.legacy : p.ttl);
  if (s !== Infinity && !seen(c)) s = Math.min(s, p.max_ttl);
  if (!bid.confirmed && !c.behalf?.confirmed) s = Math.min(s, p.pending);
  if (c.provisional && c.fields.lease === undefined) s = Math.min(s, p.bundle);
  return s;
}

// "People", 3: whether the end of a claim goes by what its person was seen doing, and when that was; `closed` and `working` are those of "issue.js".
const seen = (c) => c.person !== undefined && c.confirmed && !c.provisional && c.fields?.ttl !== undefined && c.fields.ttl !== Infinity;

export const seenAt = (c) => Math.max(...c.comments.map((r) => r.comment.edited), c.said, c.closed ?? 0);

// The moment at which a live claim's lease is over, in milliseconds: that of its last bid.
export function endOf(c, p = DEFAULTS) {
  if (lease(c, p) === Infinity) return Infinity;
  const limit = c.plan && c.plan.at + p.plan_timeout * 1000;
  if (c.plan && (c.waits || c.plan.approved > limit)) return limit;
  if (seen(c)) {
    if (c.working) return Infinity;
    const ttl = lease(c, p) * 1000;
    return Math.min(seenAt(c) + ttl, Math.max(c.at + 3 * ttl, (c.closed ?? 0) + ttl));
  }
  const standing = c.bids.filter((b) => !b.ended);
  const ends = (standing.length ? standing : [c]).map((b) => Math.max(b.last, c.behalf?.last ?? 0, c.plan?.approved ?? 0) + lease(c, p, b) * 1000);
  return Math.max(...ends);
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

// The largest token that others than the process of the key with the nonce have recorded.
function others(state, own, nonce) {
  const all = state.claims.flatMap((c) => [...(c === own ? [] : [c.token]), ...c.bids.filter((b) => c !== own || b.nonce !== nonce).map((b) => b.token)]);
  return Math.max(0, ...all);
}

// "The fencing token" of a process of the key, with its claim counted as confirmed.
export function token(state, key, nonce) {
  const own = state.claims.find((c) => c.key === key);
  const bid = own?.bids.find((b) => b.nonce === (nonce ?? own.bid?.nonce));
  const largest = others(state, own, bid?.nonce);
  const recorded = Math.max(bid ? bid.token : own?.token ?? 0, own?.behalf?.token ?? 0);
  if (recorded > largest) return recorded;
  const index = state.index + (own && (own.confirmed || own.bids.some((b) => b.confirmed)) ? 0 : 1);
  return Math.min(Math.max(index, largest + 1), Number.MAX_SAFE_INTEGER);
}

// May a caller that shows the token n act as the key?
export function accepts(state, key, n) {
  const own = state.claims.find((c) => c.key === key);
  if (n === 0) return true;
  return own?.token ? n === own.token : n > others(state, own, own?.bid?.nonce) && n <= state.index;
}

// "The fencing token": may a caller with that login renew, complete or release the claim of a key?
export function actsAs(state, key, login) {
  const own = state.claims.find((c) => c.key === key);
  return !own || own.author === null || same(own.author, login);
}

// "Expire": the outcome with which anybody records the end of an expired claim.
export function expiredAs(c, closed) {
  if (closed) return 'cancelled';
  if (c.waits) return 'plan-timeout';
  if (c.provisional) return 'bundle-claim-rolled-back';
  return 'stale-swept';
}

// "Projection": the log without undone claims and tombstones and people's claims. Where a person holds the issue, nothing in it is live.
export function forLabels(state) {
  const out = new Set();
  const people = new Set();
  for (const c of state.claims) {
    if (c.person !== undefined) people.add(mapKey(c.head));
    if (c.undone || c.person !== undefined) out.add(mapKey(c.head));
  }
  for (const [key, releases] of state.tombstones) {
    if (releases.some((r) => r.fields.outcome === 'bundle-claim-rolled-back')) out.add(key);
  }
  const stays = (r) => !out.has(mapKey(r)) || (r.kind === 'reset' && (r.fields.restart || !people.has(mapKey(r))));
  const log = fold({ records: state.records.filter(stays) });
  return state.holder?.person === undefined ? log : { ...log, claims: log.claims.filter((c) => c.end), live: [], holder: null };
}
