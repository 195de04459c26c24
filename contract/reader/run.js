// Runs the vectors of the contract (spec.md#the-vectors) through this reader: node run.js [-v] [--root FOLDER] [FILE…]
//
// Prints "FILE: passed/total" for each, and what failed with -v; ends with 1 if anything failed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { decode, encode, show } from './records.js';
import { DEFAULTS, accepts, actsAs, contends, endOf, expired, fold, lower, overdue, readLog, token } from './replay.js';
import { fnv1a, rest } from './rest.js';
import { move } from './moves.js';
import { NAMES, change } from './change.js';
import { configured, delivered, endedWithIt, excessive, notices, project, stuck, unlinks, verdict } from './issue.js';
import { description, merge, message } from './closing.js';

const START = Date.parse('2026-05-01T00:00:00Z');
const READY = { ...NAMES, available: 'ready', claimed: 'agent-working' };

// A quoted string, as octets: \n \r \t \\ \" \xHH \uHHHH and \{N:TEXT}.
function unquote(s) {
  return s.slice(1, -1).replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|\{([0-9]+):([^}]*)\}|(.))/g, (_, x, u, n, text, c) => {
    if (x) return String.fromCharCode(parseInt(x, 16));
    if (u) return Buffer.from(String.fromCharCode(parseInt(u, 16))).toString('latin1');
    if (n) return text.repeat(Number(n));
    return { n: '\n', r: '\r', t: '\t' }[c] ?? c;
  });
}
const text = (s) => (s.startsWith('"') ? unquote(s) : s);

function seconds(s) {
  return [...s.matchAll(/([0-9]+)([hms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * { h: 3600, m: 60, s: 1 }[unit], 0);
}
function time(s) {
  const [h, m, sec = '0'] = s.split(':').map(Number);
  return START + (h * 3600 + m * 60 + Number(sec)) * 1000;
}
function clock(t) {
  if (t === Infinity) return 'never';
  const ms = t - START;
  const two = (n) => String(n).padStart(2, '0');
  const s = Math.floor(ms / 1000);
  const part = ms % 1000 ? `.${String(ms % 1000).padStart(3, '0')}` : '';
  return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}${s % 60 || part ? `:${two(s % 60)}${part}` : ''}`;
}

// One line of a case that is a comment.
function comment(line) {
  const [, id, created, updated, author, stranger, editor, body] = /^([0-9]+) ([0-9:]+)(?:~([0-9:]+))? ([^ ?/]+)(\?)?(?:\/([^ ]+))? (.*)$/.exec(line);
  let what = text(body);
  if (!body.startsWith('"')) {
    const [, kind, codename, firing, fields] = /^([^ ]+) ([^ :]*):([^ ]*) ?(.*)$/.exec(body);
    what = `<!-- agent-${kind}:codename=${codename} firing_id=${firing}${fields && ` ${fields}`} -->`;
  }
  return { id, at: time(created), edited: time(updated ?? created), author, counts: !stranger, editors: editor ? [editor] : [], body: what };
}

const lines = (content) => content.split('\n').filter((l) => l !== '' && !l.startsWith('#'));

// Cases of the form "== TITLE", facts, "-> answers".
function* titled(content) {
  for (const part of content.split(/^== /m).slice(1)) {
    const [title, ...rest] = part.split('\n');
    const facts = rest.filter((l) => l !== '' && !l.startsWith('#'));
    yield { title, facts: facts.filter((l) => !l.startsWith('-> ')), want: facts.filter((l) => l.startsWith('-> ')).map((l) => l.slice(3)) };
  }
}

function* records(content) {
  const all = lines(content);
  for (let i = 0; i < all.length; i += 2) {
    const r = decode(text(all[i]));
    const tokens = (all[i + 1].slice(3).match(/(?:[^ "]|"(?:[^"\\]|\\.)*")+/g) ?? []).map((t) => t.replace(/"(?:[^"\\]|\\.)*"$/, unquote));
    const want = tokens[0] === 'ignored:' ? 'ignored' : tokens.join(' ');
    let got = r.talk ? 'talk' : r.ignored ? 'ignored' : '';
    if (!got) {
      const known = Object.keys(r.fields).sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
      got = [r.kind, ...known.map((k) => `${k}=${show(k, r.fields[k])}`), ...r.other.map(([k, v]) => `x.${k}=${v}`)].join(' ');
    }
    // What can be read can be written, or is too long for it.
    try {
      if (r.kind) encode(r);
    } catch (e) {
      if (e.message !== 'too long') got = e.message;
    }
    yield { title: all[i], want, got };
  }
}

function* writing(content) {
  const all = lines(content);
  for (let i = 0; i < all.length; i += 2) {
    let got;
    try {
      got = encode(decode(text(all[i])));
    } catch {
      got = 'refused';
    }
    yield { title: all[i], want: text(all[i + 1].slice(3)), got };
  }
}
const ORDER = 'codename firing_id outcome by reason pr link restart stage ts nonce ttl attempt not_before state hb token lease branch bundle was person assignee forced'.split(' ');

function* replay(content) {
  for (const { title, facts, want } of titled(content)) {
    const p = { ...DEFAULTS };
    const comments = [];
    const questions = [];
    let now = null;
    for (const line of facts) {
      const [word, ...args] = line.split(' ');
      if (/^[0-9]/.test(word)) comments.push(comment(line));
      else if (word === 'now') now = time(args[0]);
      else if (['confirms', 'shows', 'acts', 'contends'].includes(word)) questions.push([word, ...args]);
      else for (const [name, value] of args.map((a) => a.split('='))) p[{ max: 'max_ttl', plan: 'plan_timeout' }[name] ?? name] = seconds(value);
    }
    const s = fold(readLog(comments));
    const got = s.claims.flatMap((c) => [claim(c), ...bids(c)]);
    function bids(c) {
      if (c.bids.length < 2) return [];
      return c.bids.map((b) => {
        const out = [`bid ${c.key}/${b.nonce ?? ''} rank=${clock(b.at)}/${b.id} ${b.confirmed ? 'held' : 'unconfirmed'}`];
        if (b.token) out.push(`token=${b.token}`);
        if (b.resumes !== undefined) out.push(`resumes=${b.resumes}`);
        if (b.ended) out.push('ended');
        return out.join(' ');
      });
    }
    function claim(c) {
      const out = [`claim ${c.key} rank=${clock(c.at)}/${c.id} ${c.confirmed ? 'held' : 'unconfirmed'}`];
      if (c.comments.length > 1) out.push(`comments=${c.comments.length}`);
      if (c.token) out.push(`token=${c.token}`);
      if (c.person !== undefined) out.push(`person=${c.person}`);
      if (c.plan) out.push(`plan=${c.plan.answer ?? 'pending'}`);
      if (c.plan?.answeredBy) out.push(`answered-by=${c.plan.answeredBy}`);
      if (c.revoke) out.push(`revoked-by=${c.revoke.fields.by}`);
      if (!c.end) {
        out.push(`live until=${clock(endOf(c, p))}`);
        if (now !== null) out.push(expired(c, now, p) ? 'expired' : overdue(c, now, p) ? 'overdue' : 'stands');
        return out.join(' ');
      }
      const { kind, fields } = c.end.record;
      const f = kind === 'release' ? fields : { by: fields.by };
      out.push(`ended=${c.end.outcome ?? '""'} at=${clock(c.end.at)}`);
      if (f.by !== undefined) out.push(`by=${f.by}`);
      if (f.pr !== undefined) out.push(`pr=${f.pr}`);
      if (f.link) out.push(`link=${f.link}`);
      if (c.unlinked) out.push('unlinked');
      if (f.not_before !== undefined) out.push(`not_before=${clock(f.not_before)}`);
      return out.join(' ');
    }
    const dead = [...s.tombstones.values()].map(([r]) => `${r.fields.codename}:${r.fields.firing_id}`);
    for (const key of dead.sort()) got.push(`tombstone ${key}`);
    if (s.holder) got.push(`holder ${s.holder.key}`);
    got.push(`records ${s.records.length} index ${s.index}`);
    for (const c of s.attempts) got.push(`attempt ${c.key} ${c.end.outcome} at=${clock(c.end.at)}`);
    const last = s.ended.filter((c) => c.confirmed).at(-1);
    if (last && s.claims.length > 1) got.push(`last-ended ${last.key}`);
    for (const [url, r] of s.named) got.push(`named ${url} at=${clock(r.comment.at)}`);
    if (s.stage !== undefined) got.push(`stage ${s.stage} at=${clock(s.stageRecord.comment.at)}`);
    const notBefore = Math.max(0, ...s.afterReset.map((c) => (c.end.record.kind === 'release' && c.end.record.fields.not_before) || 0));
    if (notBefore) got.push(`not-before ${clock(notBefore)}`);
    for (const i of s.ignored.sort((a, b) => a.rank - b.rank)) got.push(`ignored ${i.comment.id}`);
    for (const [word, key, n, id] of questions) {
      if (word === 'confirms') got.push(`${n ? `confirms ${key} ${n}` : `confirms ${key}`} -> ${token(s, key, n)}`);
      else if (word === 'contends') got.push(`contends ${key} ${n}${id ? ` ${id}` : ''} -> ${contends(s, key, n, id)}`);
      else got.push(`${word} ${key} ${n} -> ${(word === 'acts' ? actsAs(s, key, n) : accepts(s, key, Number(n))) ? 'accepted' : 'refused'}`);
    }
    yield { title, want: want.map((w) => w.replace(/^(ignored [0-9]+):.*/, '$1')).join('\n'), got: got.join('\n') };
  }
}

function* restFile(content) {
  for (const line of lines(content)) {
    const [key, hash, time, want] = line.split(' ');
    yield { title: line, want: `${hash} ${want}`, got: `${fnv1a(key)} ${rest(key, Number(time))}` };
  }
}

function* moves(content) {
  for (const line of lines(content)) {
    const [from, to, want] = line.split(/ +/);
    yield { title: line, want, got: move(from, to) };
  }
}

function* changes(content) {
  let names = NAMES;
  for (const line of lines(content)) {
    if (line.startsWith('@scheme')) {
      names = line.endsWith('ready') ? READY : NAMES;
      continue;
    }
    const [have, picture, add, remove] = line.split(' | ').map((cell) => (cell === '-' ? [] : cell.split(', ')));
    const [state, ...further] = picture;
    const pick = (sign) => further.filter((f) => f[0] === sign).map((f) => f.slice(1));
    const result = { keep: state === 'keep', show: names[state] ? [names[state]] : [], plus: pick('+'), minus: pick('-') };
    const got = change(have, result, names);
    yield { title: line, want: [add, remove].join(' | '), got: [got.add, got.remove].join(' | ') };
  }
}

function* issues(content) {
  for (const { title, facts, want } of titled(content)) {
    const { snap, p, who } = snapshot(facts);
    const shown = project(snap, p);
    const got = [[shown.keep ? 'keep' : `show ${shown.state}`, ...shown.plus.map((l) => `+${l}`), ...shown.minus.map((l) => `-${l}`)].join(' ')];
    const c = change(snap.labels.map((l) => l.name), shown, p.names, p.stages);
    if (c.add.length + c.remove.length) got.push(['change', ...c.add.map((l) => `+${l}`), ...c.remove.map((l) => `-${l}`)].join(' '));
    const d = delivered(snap, p);
    if (d) got.push(`delivered ${d.key} #${d.pull.number}`);
    for (const e of endedWithIt(snap, p)) got.push(`ends ${e.key} ${e.outcome}`);
    const v = verdict(snap, p, who);
    const code = (r) => r.reason + (r.key ? `:${r.key}` : '') + (r.pull ? `#${r.pull.number}` : '') + (r.until !== undefined && r.until !== Infinity ? `@${clock(r.until)}` : '');
    got.push(['verdict', v.answer, ...v.reasons.map(code)].join(' '));
    const asked = who.asks ?? [];
    for (const n of v.notes) got.push(`note ${n.reason === 'too-many-issues' ? n.reason : code(n)}`);
    if (asked.includes('stuck')) got.push(`stuck ${stuck(snap, p)}`);
    if (asked.includes('unlinks')) for (const c of unlinks(snap, p)) got.push(`unlinks ${c.key}`);
    if (asked.includes('notices')) for (const n of notices(snap, p)) got.push(`notice ${n.join(' ')}`);
    yield { title, want: want.map((w) => w.replace(/ +# .*/, '')).join('\n'), got: got.join('\n') };
  }
}

function snapshot(facts) {
  const snap = { repo: 'o/r', open: true, pull: false, stateReason: '', labels: [], holdLabel: null, comments: [], pulls: [], blockers: null, assignees: [], reopened: null, now: time('10:00'), unread: [], unknownAuthors: [], unshown: 0, paused: false };
  const who = { login: 'bot' };
  const settings = {};
  const tooMany = [];
  const at = {};
  for (const line of facts) {
    const [word, ...args] = line.split(' ');
    const tail = line.slice(word.length + 1);
    if (/^[0-9]/.test(word)) {
      snap.comments.push(comment(line));
      continue;
    }
    ({
      labels: () => (snap.labels = tail.split(', ').map((name) => ({ name, at: null }))),
      open: () => (snap.stateReason = tail),
      closed: () => Object.assign(snap, { open: false, stateReason: tail }),
      reopened: () => (snap.reopened = time(tail)),
      'claimed-label': () => (at.claimed = { at: time(tail) }),
      'blocked-label': () => (at.blocked = { at: time(tail) }),
      'hold-label': () => (snap.holdLabel = { at: time(args[0]), by: args[1] }),
      assignees: () => (snap.assignees = args),
      assigned: () => ((snap.assigned ??= {})[lower(args[0])] = time(args[1])),
      viewer: () => (who.login = tail),
      pr: () => snap.pulls.push(pull(args)),
      blocker: () => (snap.blockers ??= []).push({ name: args[0], open: args[1] === 'open' }),
      'blockers-read': () => (snap.blockers = []),
      paused: () => (snap.paused = true),
      missing: () => snap.unread.push(tail),
      doubt: () => snap.unknownAuthors.push(tail),
      'host-pause-unknown': () => (who.pausedHere = null),
      asks: () => (who.asks = args),
      excessive: () => tooMany.push(tail.slice(1)),
      unshown: () => (snap.unshown = Number(tail)),
      limit: () => (who.limited = true),
      'is-pull-request': () => (snap.pull = true),
      now: () => (snap.now = time(tail)),
      'no-server-time': () => (snap.now = null),
      who: () => (who.worker = tail),
      person: () => (who.person = true),
      branch: () => ([who.repo, who.branch] = args),
      rules: () => args.forEach((a) => rule(settings, a)),
    })[word]();
  }
  const p = configured(settings);
  for (const [name, facts] of Object.entries(at)) for (const l of snap.labels) if (l.name.toLowerCase() === p.names[name]) Object.assign(l, facts);
  for (const number of tooMany) {
    const there = snap.pulls.find((q) => q.number === number) ?? pull([`#${number}`, 'open']);
    if (!snap.pulls.includes(there)) snap.pulls.push(there);
    there.excessive = true;
  }
  // A pull request has the address by which a release of the case names it.
  for (const q of snap.pulls) {
    const named = snap.comments.map((c) => /pr=([^ ]*)/.exec(c.body)?.[1]).find((url) => url?.endsWith(`/pull/${q.number}`));
    q.url = (q.recorded && named) || `not named: ${q.repo}#${q.number}`;
  }
  return { snap, p, who };
}

function pull([number, state, ...words]) {
  const q = { number: number.slice(1), repo: 'o/r', toDefault: true, merged: null, author: '', branch: '', chain: null };
  q[state === 'missing' || state === 'unreadable' ? state : 'state'] = state;
  for (const [name, value] of words.map((w) => w.split('='))) {
    ({
      draft: () => {},
      recorded: () => (q.recorded = true),
      bare: () => Object.assign(q, { recorded: true, bare: true }),
      named: () => {},
      stranger: () => (q.stranger = true),
      base: () => (q.toDefault = false),
      head: () => (q.branch = value),
      from: () => (q.headRepo = value),
      author: () => (q.author = value),
      merged: () => (q.merged = time(value)),
      closed: () => (q.closed = time(value)),
      in: () => (q.repo = value),
      chain: () => (q.chain = value),
      sibling: () => Object.assign(q, { chain: value, sibling: true }),
    })[name]();
  }
  q.headRepo ??= q.repo;
  q.address = `https://h/${q.repo}/pull/${q.number}`;
  return q;
}

function rule(settings, word) {
  const [name, value] = word.split('=');
  ({
    'ignore-assignees': () => (settings.ignoreAssignees = true),
    assignees: () => (settings.assignee_ttl = seconds(value)),
    requeue: () => (settings.on_reopen = 'requeue'),
    attempts: () => (settings.max_attempts = Number(value)),
    rest: () => (settings.rest = value.split(',').map(seconds)),
    exclude: () => (settings.exclude_labels = value.split(',')),
    stray: () => (settings.stray = seconds(value)),
    nudge: () => (settings.nudge = seconds(value)),
    preset: () => (value === 'ready' ? (settings.names = READY) : (settings.stages = ['ready', 'review', 'done'])),
  })[name]();
}

const CLOSING = (closes) => function* (content) {
  let home = '';
  let host = '';
  for (const line of lines(content)) {
    if (line.startsWith('@home')) home = line.slice(6);
    else if (line.startsWith('@host')) host = line.slice(6);
    else {
      const bar = line.indexOf(' | ');
      yield { title: line, want: line.slice(0, bar), got: closes(text(line.slice(bar + 3)), home, host).join(' ') || '-' };
    }
  }
};

function* descriptions(content) {
  const parts = content.split(/^-- (.*) --\n/m);
  for (let i = 1; i < parts.length; i += 2) {
    yield { title: parts[i], want: parts[i].split(': ')[0], got: description(parts[i + 1], 'acme/app', 'github.com').join(' ') || '-' };
  }
}

function* merges(content) {
  const words = { commit: ['MERGE_MESSAGE', 'PR_TITLE'], squash: ['COMMIT_OR_PR_TITLE', 'COMMIT_MESSAGES'], rebase: ['', ''] };
  const parts = content.split(/^-- (.*) --\n/m);
  for (let i = 1; i < parts.length; i += 2) {
    const m = { methods: {}, title: '', body: '', commits: [] };
    for (const line of parts[i + 1].split('\n')) {
      const [key] = line.split(' ', 1);
      const value = line.slice(key.length + 1).replaceAll('\\n', '\n');
      if (key === 'commit') m.commits.push(value);
      else if (key === 'methods') {
        for (const word of value.split(' ').filter(Boolean)) {
          const [method, made = ''] = word.split('=');
          const [title, text] = made.split('/');
          m.methods[method] = { title: title || words[method][0], text: text || words[method][1] };
        }
      } else if (key) m[key] = value;
    }
    yield { title: parts[i], want: parts[i].split(': ')[0], got: merge(m, 'acme/app', 'github.com').join(' ') || '-' };
  }
}

function* outsiders(content) {
  const all = lines(content);
  for (let i = 0; i < all.length; i += 2) {
    const [head, pulls] = all[i].split(':');
    const [most, ...words] = head.split(' ');
    const who = ['member', 'outsider'].find((w) => words.includes(w)) ?? 'stranger';
    const range = (word) => {
      const [from, to = from] = word.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, n) => from + n);
    };
    const named = pulls.split('|').map((p) => p.trim().split(' ').filter(Boolean).flatMap(range));
    const got = excessive(who, words.includes('elsewhere'), Number(most), named);
    yield { title: all[i], want: all[i + 1].slice(3), got: got.map((no) => (no ? 'no' : 'yes')).join(' ') };
  }
}

const FILES = {
  'internal/claim/testdata/records.txt': records,
  'internal/claim/testdata/writing.txt': writing,
  'internal/claim/testdata/replay.txt': replay,
  'internal/lifecycle/testdata/issues.txt': issues,
  'internal/lifecycle/testdata/outsiders.txt': outsiders,
  'internal/lifecycle/testdata/rest.txt': restFile,
  'internal/labels/testdata/moves.txt': moves,
  'internal/labels/testdata/change.txt': changes,
  'internal/closing/testdata/commit.txt': CLOSING(message),
  'internal/closing/testdata/description.txt': CLOSING(description),
  'internal/closing/testdata/description.txtar': descriptions,
  'internal/closing/testdata/merge.txtar': merges,
};

const { values, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: 'boolean', short: 'v' }, root: { type: 'string', default: fileURLToPath(new URL('../..', import.meta.url)) } },
});
for (const [file, run] of Object.entries(FILES)) {
  if (chosen.length && !chosen.some((c) => file.includes(c))) continue;
  const content = readFileSync(join(values.root, file), 'latin1');
  let passed = 0;
  let total = 0;
  for (const { title, want, got } of run(content)) {
    total++;
    if (want === got) passed++;
    else if (values.verbose) console.log(`${file}: ${title}\n  want ${want.replaceAll('\n', '\n       ')}\n  got  ${got.replaceAll('\n', '\n       ')}`);
  }
  console.log(`${file}: ${passed}/${total}`);
  if (passed < total || total === 0) process.exitCode = 1;
}
