// What an issue shows, and whether a worker may take it (spec.md#pull-requests, spec.md#labels, spec.md#the-verdict, spec-writing.md#what-everybody-may-do).
//
// A snapshot is {repo, pull, open, stateReason, labels: [{name, at}], holdLabel: {at, by} or null, when the label of a person's hold was last put on, comments, pulls, blockers: [{name, open}] or null, assignees, assigned: {login in lower case: time},
// reopened, now, unread: [what], paused, unknownAuthors, unshown, text}; times in milliseconds, null where they are not known.
// `blockedAt` is when the blocked label was last put on. A pull request is {url, repo, state, merged, closed, bare, author, branch, headRepo, toDefault, chain, sibling, missing, unreadable, excessive, stranger}.
// The configuration is the parameters, `names`, `stages`, `ignoreAssignees`.

import { DEFAULTS, expired, expiredAs, endOf, fold, forLabels, isApp, lease, lower, readLog, restsUntil, same, seenAt } from './replay.js';
import { NAMES, lifecycle, stageLabel } from './change.js';
import { rfc3339, unescape } from './records.js';

export function configured(settings = {}) {
  const p = { ...DEFAULTS, names: NAMES, stages: [], ...settings };
  return { ...p, names: { ...NAMES, ...settings.names } };
}

const LIMIT = 20;
const MISSING = 10 * 60 * 1000;
const DAY = 24 * 60 * 60 * 1000;

// "Facts of a pull request", by a state of the log.
class Pulls {
  constructor(snap, state, p, whole = state) {
    Object.assign(this, { snap, state, p, whole });
    this.excessive = snap.pulls.filter((q) => q.state === 'open' && !this.named(q) && q.excessive);
    this.all = snap.pulls.filter((q) => !this.excessive.includes(q));
  }
  named(q) {
    return this.whole.named.get(q.url);
  }
  hidden(q) {
    const r = this.named(q);
    return Boolean((q.missing || q.unreadable) && r && !(this.state.restart && r.rank < this.state.restart.rank));
  }
  merged(q) {
    if (q.state !== 'merged' || !q.toDefault || q.sibling) return false;
    const since = Math.max(this.snap.reopened ?? -Infinity, this.state.restart?.comment.at ?? -Infinity);
    return (q.merged ?? -Infinity) > since || since === -Infinity;
  }
  chained(q, r) {
    return q === r || (q.chain != null && q.chain === r.chain);
  }
  shipped(q) {
    return this.merged(q) && !this.all.some((r) => r !== q && this.chained(q, r) && r.state === 'open');
  }
  own(q, c) {
    const wrote = Boolean(q.author) && same(q.author, c.author);
    return c.fields.branch === undefined ? wrote : q.branch === c.fields.branch && (same(q.headRepo, q.repo) || wrote);
  }
  // "Pending": the verdict's reason, or null.
  pending(q) {
    if (q.missing || q.unreadable) {
      if (!this.hidden(q)) return null;
      return q.unreadable || this.snap.now < this.named(q).comment.at + MISSING ? 'pr-open' : null;
    }
    if (q.sibling) return q.state === 'open' ? 'pr-open' : null;
    if (!this.named(q)) return q.state === 'open' && q.toDefault ? 'pr-open' : null;
    if (q.state === 'open') return 'pr-open';
    return q.state === 'merged' && !q.toDefault ? 'merged' : null;
  }
}

// Everything that the projection and the verdict have in common.
class View {
  constructor(snap, p, full) {
    this.snap = snap;
    this.p = p;
    this.full = full ?? fold(readLog(snap.comments, p));
    this.full.live.forEach((c) => lives(c, snap));
    this.log = forLabels(this.full);
    this.pulls = new Pulls(snap, this.log, p, this.full);
    this.labels = snap.labels.map((l) => lower(l.name));
    const all = lifecycle(p.names, p.stages).map(lower);
    this.has = this.labels.filter((l) => all.includes(l));
    const last = p.stages.at(-1);
    this.doneLabel = last ?? p.names.done;
    this.stage = this.stageOf();
    this.available = p.stages.length ? stageLabel(p.stages, this.stage === last ? p.stages[0] : this.stage) : p.names.available;
  }
  label(name) {
    return this.labels.includes(lower(name));
  }
  labelled(name) {
    return this.snap.labels.find((l) => same(l.name, name));
  }
  // Lines 12 and 21; in a pipeline any queue's label.
  get labelledAvailable() {
    const { stages } = this.p;
    return stages.length ? stages.slice(0, -1).some((s) => this.label(stageLabel(stages, s))) : this.label(this.available);
  }
  get managed() {
    return this.log.records.length > 0 || this.has.length > 0;
  }
  // "Pipelines", 1 and 2.
  stageOf() {
    const { stages } = this.p;
    if (!stages.length) return undefined;
    const { stage, stageRecord, restart } = this.full;
    if (stage === stages.at(-1) && ((this.snap.reopened ?? -Infinity) > stageRecord.comment.at || (restart && restart.comment.at > stageRecord.comment.at))) return stages[0];
    if (stages.includes(stage)) return stage;
    return [...stages].reverse().find((s) => this.label(stageLabel(stages, s))) ?? stages[0];
  }
  get through() {
    return this.p.stages.length > 0 && this.full.stage !== undefined && this.stage === this.p.stages.at(-1);
  }
  // Line 22.
  get implemented() {
    const last = this.log.ended.filter((c) => c.confirmed).at(-1);
    if (!last || last.end.outcome !== 'already-implemented') return false;
    if (this.log.restart && last.end.rank < this.log.restart.rank) return false;
    return !(this.snap.reopened != null && this.snap.reopened > last.end.at);
  }
  get exhausted() {
    return this.p.max_attempts > 0 && this.full.attempts.length >= this.p.max_attempts;
  }
  knownReopened() {
    return this.snap.reopened != null || this.snap.stateReason === 'reopened';
  }
  fresh(state) {
    const l = this.labelled(this.p.names.claimed);
    if (!l || l.at == null) return false;
    return !(state.lastRecord && l.at <= state.lastRecord.comment.at) && this.snap.now - l.at < this.p.stray * 1000;
  }
  gated(state) {
    return this.snap.open && !this.snap.pull && this.label(this.p.names['plan-pending']) && !state.claims.some((c) => c.planned);
  }
}

// "People", 3: what the pull requests of a person that close the issue say of the person's claim.
function lives(c, snap) {
  const own = snap.pulls.filter((q) => c.person !== undefined && !q.sibling && !q.bare && q.author && same(q.author, c.person));
  c.working = own.some((q) => q.state === 'open');
  c.closed = Math.max(0, ...own.map((q) => q.closed ?? 0));
}

// "Projection": {state: a state, 'none' or 'keep', show: [labels], plus: [labels], minus: [labels]}.
export function project(snap, p) {
  const v = new View(snap, p);
  if (snap.unread.length || snap.now == null) return { state: 'keep', keep: true, show: [], plus: [], minus: [] };
  if (snap.pull) return { state: 'keep', keep: true, show: [], ...heldPull(v) };
  let state = table(v);
  let bundleMinus = [];
  const undone = correct(v, state);
  if (undone) {
    state = undone.state;
    bundleMinus = undone.minus;
  }

  const plus = [];
  const minus = [];
  const further = (name, on) => (on ? plus : minus).push(name);
  if (snap.open && v.managed) {
    const h = v.log.holder;
    if (h?.confirmed && !h.provisional && bundleLabel(h, p)) plus.push(bundleLabel(h, p));
    minus.push(...bundleMinus);
    if (v.exhausted) plus.push(p.names['needs-scope']);
    if (snap.blockers) further(p.names.blocked, snap.blockers.some((b) => b.open));
  } else minus.push(...bundleMinus);
  personsLabel(v, plus, minus);
  return { state, keep: state === 'keep', show: shown(v, state), plus, minus };
}

// "People", 2.
function personsLabel(v, plus, minus) {
  const name = v.p.names['person-hold'];
  const hold = v.full.holder?.person !== undefined;
  if (hold && v.snap.open) plus.push(name);
  else if (!hold && leftOver(v)) minus.push(name);
}

// "Held pull requests", 1 and 2.
function heldPull(v) {
  const plus = [];
  const minus = [];
  if (v.snap.open && v.log.live.length) plus.push(v.p.names.claimed);
  else if (v.log.records.length && !(v.snap.open && v.fresh(v.log))) minus.push(v.p.names.claimed);
  personsLabel(v, plus, minus);
  return { plus, minus };
}

// "End": the claims that the end of the issue or of the pull request ends, and how. What is delivered is handed over.
export function endedWithIt(snap, p) {
  if (snap.open || unread(snap)) return [];
  const outcome = snap.pull && snap.stateReason === 'merged' ? 'success' : 'cancelled';
  const handed = delivered(snap, p)?.key;
  return new View(snap, p).full.live.filter((c) => c.key !== handed).map((c) => ({ key: c.key, outcome }));
}

function shown(v, state) {
  const { names, stages } = v.p;
  if (state === 'keep' || state === 'none') return [];
  if (state === 'done') return [v.doneLabel];
  const out = [];
  const beside = stages.length && v.stage !== stages.at(-1);
  if (beside || state === 'available') out.push(v.available);
  if (state !== 'available') out.push(names[state]);
  if ((state === 'available' || state === 'claimed') && v.gated(v.log)) out.push(names['plan-pending']);
  return out;
}

// The table of "Projection", lines 2 to 24.
function table(v) {
  const { snap, p, log, pulls } = v;
  const only = (name) => v.has.length === 1 && v.has[0] === lower(name);
  const claimedFresh = v.fresh(log);
  const shipped = pulls.all.some((q) => pulls.shipped(q));
  const requeue = p.on_reopen === 'requeue' ? 'available' : 'none';

  if (!snap.open) {
    if (!v.managed) return 'keep';
    if (!shipped && pulls.all.some((q) => pulls.merged(q))) return 'pr-open';
    return snap.stateReason === 'completed' || shipped ? 'done' : 'none';
  }
  if (log.holder?.waits) return 'plan-pending';
  if (log.live.length) return 'claimed';
  if (v.managed && shipped) return 'done';
  const person = v.full.holder?.person;
  const counts = (q) => !q.stranger || person === undefined || same(q.author, person);
  if (v.managed && !p.stages.length && pulls.all.some((q) => counts(q) && pulls.pending(q))) return 'pr-open';

  if (!log.records.length) {
    if (!v.has.length) return 'keep';
    const done = v.label(v.doneLabel);
    if (done && v.knownReopened()) return v.labelledAvailable ? 'available' : requeue;
    if (only(v.doneLabel)) return 'keep';
    if (done) return claimedFresh ? 'keep' : 'done';
    if (claimedFresh) return 'claimed';
    if (v.label(p.names.claimed) && v.labelled(p.names.claimed).at == null) return 'keep';
    if (only(p.names['plan-pending'])) return 'keep';
    return 'available';
  }
  if (v.exhausted) return 'none';
  if (claimedFresh) return 'claimed';
  if (snap.reopened != null && snap.reopened > log.lastRecord.comment.at && !v.labelledAvailable) return requeue;
  if (v.implemented || v.through) return 'done';
  return 'available';
}

// "Undone bundles": the corrected result, and whether the bundle's label goes.
function correct(v, state) {
  const { snap, p, full } = v;
  const c = full.ended.at(-1);
  if (!c?.undone || !snap.open || full.holder) return null;
  const pulls = new Pulls(snap, full, p);
  if (pulls.all.some((q) => pulls.shipped(q)) || (!p.stages.length && pulls.all.some((q) => pulls.pending(q)))) return null;
  const label = bundleLabel(c, p);
  const [, was, had] = /^(available|claimed|plan-pending|pr-open|done|none)(\+bundle)?$/.exec(c.fields.was ?? '') ?? [];
  const stray = v.label(p.names.claimed) && !v.fresh(full);
  const removed = label && !had ? [label] : [];
  if (was && (stray || (!v.has.length && was !== 'none'))) return { state: was, minus: removed };
  if (was) return { state, minus: removed };
  if (stray && (state === 'claimed' || state === 'keep')) return { state: 'available', minus: [] };
  return { state, minus: [] };
}

function bundleLabel(c, p) {
  const label = p.names.bundle + c.fields.bundle;
  return /^[a-z0-9][a-z0-9-]{0,62}$/.test(c.fields.bundle ?? '') && label.length <= 50 ? label : null;
}

// "People", 2: the label is left over from a person's hold that ended.
function leftOver(v) {
  const l = v.snap.holdLabel;
  const last = v.full.ended.filter((c) => c.person !== undefined && c.confirmed).at(-1);
  if (!l || !last) return false;
  return l.at < last.end.at || (l.at === last.end.at && same(l.by, last.author));
}

// "What everybody may do": by such a snapshot nothing is recorded.
const unread = (snap) => snap.unread.length > 0 || snap.unknownAuthors.length > 0;

// "Hand over": the holder's key and the pull request that it has delivered, or null.
export function delivered(snap, p) {
  const v = new View(snap, p);
  const h = v.full.holder;
  if (unread(snap) || snap.pull || !h?.confirmed || h.waits || h.person !== undefined || p.stages.length) return null;
  const pulls = new Pulls(snap, v.full, p);
  const own = pulls.all.filter((q) => pulls.own(q, h));
  const fits = (q) => q.toDefault && !q.sibling && own.some((o) => pulls.chained(o, q)) &&
    (q.state === 'open' || (q.state === 'merged' && !(q.merged <= (snap.reopened ?? -Infinity)) && q.merged >= h.at));
  const pull = pulls.all.find(fits);
  return pull ? { key: h.key, pull } : null;
}

// "Assignments": those that no live claim has made, with when each is over.
function assignments({ snap, p, full }) {
  return snap.assignees.filter((a) => !full.live.some((c) => [c.assignee, c.person].some((l) => l !== undefined && same(l, a)))).map((login) => {
    const since = snap.assigned?.[lower(login)];
    const ttl = isApp(login) ? p.assigned_bot_ttl : p.assignee_ttl;
    const own = snap.pulls.filter((q) => !q.sibling && !q.bare && q.author && same(q.author, login));
    const over = since !== undefined && ttl && !own.some((q) => q.state === 'open') ?
      Math.max(since, full.said(login), ...own.map((q) => q.closed ?? 0)) + ttl * 1000 : Infinity;
    return { login, since, over };
  });
}

// "Facts of a pull request", named: whether an address is the pull request's.
function addresses(pr, address) {
  return pr !== undefined && lower(pr.slice(0, address.length)) === lower(address) && /^([/?#]|$)/.test(pr.slice(address.length));
}

// "The verdict": {answer: 'free' | 'held' | 'unknown', reasons: [{reason, key, pull, detail, until}], notes: [...]}.
// Who asks: {worker: key, person: whether the login asks for itself, login, branch, repo, pausedHere, limited}; all optional, `pausedHere` null if that is not known. `look` is step 0 of a claim.
export function verdict(snap, p, who = {}, { look = false } = {}) {
  const reasons = [];
  const notes = [];
  const because = (reason, more) => reasons.push({ reason, ...more });
  const unread = [...snap.unread, ...(snap.now == null ? ['server time'] : []), ...(who.pausedHere === null ? ['pause of the asking host'] : [])];
  if (unread.length) {
    for (const what of unread) because('unread', { detail: what });
    return { answer: 'unknown', reasons, notes };
  }
  const v = new View(snap, p);
  const { full } = v;
  const standing = full.live.filter((c) => !expired(c, snap.now, p));
  const decides = standing.find((c) => c.confirmed) ?? standing[0];
  const pulls = new Pulls(snap.pull ? { ...snap, pulls: [] } : snap, full, p);
  const pushed = pulls.all.filter((q) => who.branch && q.state === 'open' && q.branch === who.branch && same(q.headRepo, who.repo));
  const withPushed = (q) => pushed.some((r) => pulls.chained(q, r));

  // Rule 3: without a claim that decides, the ends of expired claims count as recorded.
  const ended = full.live.filter((c) => expired(c, snap.now, p));
  const judged = decides || look || !ended.length ? v : new View(snap, p, fold({ records: [...full.records, ...ended.map((c, i) => ({
    kind: 'release',
    fields: { codename: c.fields.codename, firing_id: c.fields.firing_id, by: 'anybody', outcome: expiredAs(c, !snap.open) },
    other: [],
    rank: full.records.at(-1).rank + 1 + i,
    comment: { at: snap.now, author: '', body: '' },
  }))] }));

  if (!snap.open) because('closed');

  let own = false;
  if (decides) {
    const mine = decides.person !== undefined && who.login && same(decides.person, who.login);
    if (who.worker) own = who.worker === decides.key && (!who.login || decides.author === null || same(decides.author, who.login) || mine);
    else {
      own = mine ||
        (who.branch && !snap.pull && decides.fields.branch === who.branch && same(who.repo, snap.repo)) ||
        pulls.all.some((q) => q.chain != null && pulls.own(q, decides) && withPushed(q));
    }
    because(own ? 'own' : 'in-flight', { key: decides.key, until: endOf(decides, p) });
  }

  const prNotes = [];
  for (const q of pulls.all) {
    const pending = pulls.pending(q);
    if (pushed.includes(q) || (pending && withPushed(q))) prNotes.push({ reason: 'pr-open', pull: q });
    else if (snap.open && pulls.merged(q)) because('merged', { pull: q });
    else if (pending && !p.stages.length) because(pending, { pull: q });
  }
  if (snap.paused || who.pausedHere) because('paused');
  if (who.limited) because('limit');
  if (v.label(p.names['person-hold']) && judged.full.holder?.person === undefined && !leftOver(judged)) because('person-hold');
  if (v.label(p.names['needs-scope'])) because('needs-scope');
  if (v.gated(full)) because('plan');
  for (const l of p.exclude_labels) if (v.label(l)) because('excluded-label', { detail: l });
  for (const b of (!snap.pull && snap.blockers) || []) if (b.open) because('blocked', { detail: b.name });
  if (!own && !snap.pull && !p.ignoreAssignees) {
    const all = snap.assignees.some((a) => same(a, who.login)) ? [] : assignments(v);
    const others = all.filter((a) => snap.now < a.over);
    if (others.length) because('assigned', { detail: others.map((a) => a.login).join(','), until: Math.max(...others.map((a) => a.over)) });
    for (const a of all) if (a.over <= snap.now) prNotes.push({ reason: 'assignment-expired', detail: a.login });
  }

  if (!snap.pull) history();
  function history() {
    const beside = v.label(v.doneLabel) && v.has.length > 1;
    if (snap.open && (judged.implemented || (!judged.log.records.length && beside && !v.knownReopened()))) because('done');
    if (snap.open && judged.through) because('done');
    if (judged.exhausted) because('too-many-attempts');
    const until = restsUntil(judged.full, p);
    if (until > snap.now) because('backing-off', { until });
  }

  for (const c of ended) notes.push({ reason: 'expired', key: c.key });
  for (const q of pulls.excessive) notes.push({ reason: 'too-many-issues', pull: q });
  notes.push(...prNotes);

  // "People", 1.
  if (who.person && who.login && !isApp(who.login)) {
    const stops = (r) => ['closed', 'own', 'in-flight', 'assigned'].includes(r.reason) ||
      (r.reason === 'pr-open' && !(r.pull.author && same(r.pull.author, who.login))) ||
      (r.reason === 'person-hold' && !(snap.holdLabel?.by && same(snap.holdLabel.by, who.login)));
    reasons.splice(0, reasons.length, ...reasons.filter(stops));
  }

  let unknown = false;
  if (!reasons.length && snap.unknownAuthors?.length) {
    for (const a of snap.unknownAuthors) because('unread', { detail: a });
    unknown = true;
  }
  if (snap.unshown) {
    if (reasons.some((r) => r.reason !== 'unread') || who.branch) notes.push({ reason: 'unshown' });
    else {
      because('unshown');
      unknown = true;
    }
  }
  return { answer: unknown ? 'unknown' : reasons.some((r) => r.reason !== 'own') ? 'held' : reasons.length ? 'held' : 'free', reasons, notes };
}

// "Facts of a pull request": which of one author's open pull requests are excessive. `who` is member, outsider (the records are known not to
// count) or stranger; a stranger's are all open ones in the repository, oldest first.
export function excessive(who, elsewhere, most, named) {
  const fits = allowance(most, named);
  return named.map((issues, n) => {
    const { size } = new Set(issues);
    return size > LIMIT || (who !== 'member' && size > most) || (who === 'stranger' && (elsewhere || !fits[n]));
  });
}

function allowance(most, named) {
  const moved = new Set();
  return named.map((issues) => {
    const together = new Set([...moved, ...issues]);
    if (together.size > most) return false;
    for (const i of together) moved.add(i);
    return true;
  });
}

// "Restart": may a reset begin the issue again?
export function stuck(snap, p) {
  const v = new View(snap, p);
  if (snap.unread.length || snap.now == null || snap.pull || !snap.open || !v.managed || v.gated(v.log) || v.full.holder) return false;
  const { state } = project(snap, p);
  if (state === 'pr-open') return v.pulls.all.every((q) => !v.pulls.pending(q) || v.pulls.hidden(q));
  return state === 'keep' || state === 'done';
}

// "Unlink": the claims of whose releases a sweep records that they name no pull request any more.
export function unlinks(snap, p) {
  const v = new View(snap, p);
  if (!snap.open) return [];
  return v.full.ended.filter((c) => {
    const { kind, fields } = c.end.record;
    const q = snap.pulls.find((one) => addresses(fields.pr, one.address));
    return kind === 'release' && fields.link && !c.unlinked && q?.bare && q.toDefault && (q.state === 'open' || v.pulls.shipped(q));
  });
}

// "Notices": those that are due and that nobody who counts has posted.
export function notices(snap, p) {
  const v = new View(snap, p);
  if (snap.unread.length || snap.pull || !snap.open || !v.managed) return [];
  const out = [];
  if (v.exhausted) out.push(['escalated', v.full.attempts[0].key]);
  if (v.label(p.names.blocked) && snap.blockers?.length && !snap.blockers.some((b) => b.open)) out.push(['awake', rfc3339(v.labelled(p.names.blocked).at)]);
  const standing = v.full.live.filter((c) => !expired(c, snap.now, p));
  const h = standing.find((c) => c.confirmed);
  if (h?.person !== undefined && snap.now >= askedAt(h, p)) out.push(['asked', h.key]);
  if (!standing.length && !p.ignoreAssignees) for (const a of assignments(v)) if (a.over <= snap.now) out.push(['idle', `${a.login}@${rfc3339(a.since)}`]);
  const posted = snap.comments.filter((m) => m.counts).map((m) => /^<!-- label-state:([^ ]+) ([^ ]+) -->/.exec(m.body));
  return out.filter(([kind, key]) => !posted.some((m) => m && m[1] === kind && unescape(m[2]) === key));
}

function askedAt(c, p) {
  const ttl = lease(c, p) * 1000;
  if (c.working) return Infinity;
  if (ttl === Infinity) return p.nudge ? seenAt(c) + p.nudge * 1000 : Infinity;
  return endOf(c, p) - Math.min(Math.max(2 * 24 * 3600 * 1000, ttl / 4), ttl / 2);
}
