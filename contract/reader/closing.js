// Closing keywords (spec.md#closing-keywords). Texts are byte strings.

const KEYWORDS = new Set(['close', 'closes', 'closed', 'fix', 'fixes', 'fixed', 'resolve', 'resolves', 'resolved']);
const OWNER = '[A-Za-z0-9](?:-?[A-Za-z0-9])*(?:_[A-Za-z0-9]+)?';
const REPO = '[A-Za-z0-9_.-]{1,100}';
const NUMBER = '([1-9][0-9]*)(?![A-Za-z0-9_])';
const GAP = /(?:[ \t]+|:[ \t]*)/y;
const SHORT = new RegExp(`#${NUMBER}`, 'y');
const SLUG = `(?=[A-Za-z0-9_-]{1,39}/)${OWNER}/(?!\\.{1,2}#)${REPO}#`;
const GH = new RegExp(`(?!${SLUG})[Gg][Hh]-${NUMBER}`, 'y'); // in front of "/repo#" it is a part of the owner
const LONG = new RegExp(`(${OWNER})/(${REPO})#${NUMBER}`, 'y');
const ADDRESS = new RegExp(`https?://([^/\\s]+)/(${OWNER})/(${REPO})/(?:issues|pull)/${NUMBER}`, 'y');
const SCHEME = /https?:\/\//iy;

// Rule 6: a commit message is raw text.
export function message(text, home, host) {
  return collect([text], home, host);
}

// Rule 7: a description is Markdown; what is code or a comment is blanked before the scan.
export function description(text, home, host) {
  return collect(blocks(text), home, host);
}

// Rule 9: the texts of which a merge may make messages. methods has commit, squash and rebase: {title, text} with GitHub's words, or absent.
export function merge({ methods: { commit, squash, rebase }, title, body, commits }, home, host) {
  const texts = [];
  if (commit || rebase || squash?.text === 'COMMIT_MESSAGES') texts.push(...commits);
  const single = commits.length === 1 && squash?.title === 'COMMIT_OR_PR_TITLE';
  if (single) texts.push(commits[0].split('\n')[0]);
  if ((squash && !single) || commit?.title === 'PR_TITLE' || commit?.text === 'PR_TITLE') texts.push(title);
  if (squash?.text === 'PR_BODY' || commit?.text === 'PR_BODY') texts.push(body);
  return collect(texts, home, host);
}

function collect(texts, home, host) {
  const found = new Map();
  for (const text of texts) {
    for (const m of mentions(text, home, host)) {
      const name = m.toLowerCase();
      if (!found.has(name) && found.size < 1000) found.set(name, m);
    }
  }
  return [...found.values()];
}

// Rules 1 to 5.
function* mentions(text, home, host) {
  for (const word of text.matchAll(/[A-Za-z0-9_]+/g)) {
    if (!KEYWORDS.has(word[0].toLowerCase())) continue;
    const gap = at(GAP, text, word.index + word[0].length);
    if (!gap) continue;
    const target = targetAt(text, GAP.lastIndex, home, host);
    if (target) yield target;
  }
}

function targetAt(text, i, home, host) {
  let m = at(SHORT, text, i) ?? at(GH, text, i);
  if (m) return home ? issue(home, m[1]) : null;
  m = at(LONG, text, i);
  if (m) return named(m[1], m[2], m[3], home);
  if (!at(SCHEME, text, i)) return null;
  const slashes = text.indexOf('://', i);
  m = at(ADDRESS, text.slice(0, i) + text.slice(i, slashes).toLowerCase() + text.slice(slashes), i);
  if (!m || !host || m[1].toLowerCase() !== host.toLowerCase()) return null;
  return named(m[2], m[3], m[4], home);
}

function named(owner, repo, number, home) {
  if (owner.length > 39 || repo === '.' || repo === '..') return null;
  const full = `${owner}/${repo}`;
  return issue(home && home.toLowerCase() === full.toLowerCase() ? home : full, number);
}

function issue(repo, number) {
  return number.length > 16 || BigInt(number) > 9007199254740991n ? null : `${repo}#${number}`;
}

function at(pattern, text, i) {
  pattern.lastIndex = i;
  return pattern.exec(text);
}

// The texts of a Markdown document's leaf blocks, in order, without code and comments: CommonMark's rules for blocks.
function blocks(text) {
  const out = [];
  let containers = []; // {quote: true}, or {width, empty} for a list item
  let leaf = null; // {kind: 'para' | 'fence' | 'code' | 'comment', ...}

  const close = () => {
    if (leaf?.kind === 'para') out.push(inlines(leaf.lines.join('\n')));
    if (leaf?.kind === 'comment') out.push(comment(leaf.lines.join('\n')));
    leaf = null;
  };

  for (const source of text.split(/\r\n|\n|\r/)) {
    const line = new Line(source);
    let matched = 0;
    for (const c of containers) {
      const indent = line.indent();
      if (c.quote) {
        if (indent > 3 || line.rest[line.spaces()] !== '>') break;
        line.quote();
      } else if (line.blank()) {
        if (c.empty && indent < c.width) break;
      } else {
        if (indent < c.width) break;
        line.eat(c.width);
      }
      matched++;
    }
    let whole = matched === containers.length;

    // What is open goes on.
    if (whole && leaf?.kind === 'fence') {
      const end = line.indent() <= 3 && /^[ \t]*(`{3,}|~{3,})[ \t]*$/.exec(line.rest);
      if (end && end[1][0] === leaf.mark[0] && end[1].length >= leaf.mark.length) close();
      continue;
    }
    if (whole && leaf?.kind === 'comment') {
      leaf.lines.push(line.rest);
      if (line.rest.includes('-->')) close();
      continue;
    }
    if (whole && leaf?.kind === 'code') {
      if (line.blank() || line.indent() >= 4) continue;
      close();
    }
    if (leaf && leaf.kind !== 'para') close();

    // A new block, perhaps in new containers. `begin` closes what the line does not go on with.
    const begin = () => {
      close();
      containers.length = matched;
      for (const c of containers) c.empty = false;
      whole = true;
    };
    let done = false;
    while (!line.blank()) {
      const indent = line.indent();
      if (indent >= 4) {
        if (leaf) break;
        begin();
        leaf = { kind: 'code' };
        done = true;
        break;
      }
      const rest = line.rest.slice(line.spaces());
      const deep = matched >= 32;
      let m;
      if (rest[0] === '>' && !deep) {
        begin();
        line.quote();
        containers.push({ quote: true });
        matched++;
        continue;
      }
      if (/^#{1,6}([ \t]|$)/.test(rest)) {
        begin();
        out.push(inlines(rest));
        done = true;
      } else if ((m = /^(`{3,})[^`]*$/.exec(rest) ?? /^(~{3,})/.exec(rest))) {
        begin();
        leaf = { kind: 'fence', mark: m[1] };
        done = true;
      } else if (rest.startsWith('<!--')) {
        begin();
        leaf = { kind: 'comment', lines: [rest] };
        if (rest.includes('-->')) close();
        done = true;
      } else if (leaf && whole && /^(=+|-+)[ \t]*$/.test(rest)) {
        begin();
        done = true;
      } else if (/^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(rest)) {
        begin();
        done = true;
      }
      if (done) break;
      m = /^(?:[-+*]|([0-9]{1,9})[.)])(?=[ \t]|$)/.exec(rest);
      if (!m || deep) break;
      const empty = /^[ \t]*$/.test(rest.slice(m[0].length));
      if (leaf && whole && (empty || (m[1] !== undefined && Number(m[1]) !== 1))) break; // may not interrupt a paragraph
      begin();
      line.eat(indent);
      line.skip(m[0].length);
      const gap = line.indent();
      const pad = empty || gap >= 5 ? 1 : gap;
      line.eat(pad);
      containers.push({ width: indent + m[0].length + pad, empty });
      matched++;
    }
    if (done) continue;

    if (line.blank()) {
      close();
      containers.length = matched;
      continue;
    }
    if (!leaf) {
      begin();
      leaf = { kind: 'para', lines: [] };
    }
    leaf.lines.push(line.rest.slice(line.spaces()));
  }
  close();
  return out;
}

// What is left of a line, and in which column that begins.
class Line {
  constructor(rest) {
    this.rest = rest;
    this.column = 0;
  }
  blank() {
    return /^[ \t]*$/.test(this.rest);
  }
  spaces() {
    return /^[ \t]*/.exec(this.rest)[0].length;
  }
  indent() {
    let column = this.column;
    for (const c of this.rest.slice(0, this.spaces())) column += c === '\t' ? 4 - (column % 4) : 1;
    return column - this.column;
  }
  skip(n) {
    this.rest = this.rest.slice(n);
    this.column += n;
  }
  // Takes n columns of white space, of a tab perhaps a part.
  eat(n) {
    while (n > 0 && /^[ \t]/.test(this.rest)) {
      const width = this.rest[0] === '\t' ? 4 - (this.column % 4) : 1;
      const taken = Math.min(width, n);
      this.rest = ' '.repeat(width - taken) + this.rest.slice(1);
      this.column += taken;
      n -= taken;
    }
  }
  quote() {
    this.eat(this.indent());
    this.skip(1);
    this.eat(1);
  }
}

// Inlines: code spans and comments become octets that end every mention; a backslash makes the next character text.
function inlines(text) {
  const runs = new Map(); // length of a run of backticks → where such runs begin
  for (const m of text.matchAll(/`+/g)) {
    if (!runs.has(m[0].length)) runs.set(m[0].length, []);
    runs.get(m[0].length).push(m.index);
  }
  let out = '';
  let i = 0;
  const hide = (end) => {
    out += text.slice(i, end).replace(/[^\n]/g, '\0');
    i = end;
  };
  while (i < text.length) {
    if (text[i] === '\\') {
      out += text.slice(i, i + 2);
      i += 2;
    } else if (text[i] === '`') {
      const n = /^`+/.exec(text.slice(i))[0].length;
      const end = runs.get(n)?.find((at) => at >= i + n);
      if (end !== undefined) hide(end + n);
      else {
        out += text.slice(i, i + n);
        i += n;
      }
    } else if (text.startsWith('<!--', i) && commentEnd(text, i) > 0) {
      hide(commentEnd(text, i));
    } else out += text[i++];
  }
  return out;
}

// Where the comment at i ends, -1 if it does not.
function commentEnd(text, i) {
  if (text.startsWith('<!-->', i)) return i + 5;
  if (text.startsWith('<!--->', i)) return i + 6;
  const end = text.indexOf('-->', i + 4);
  return end < 0 ? -1 : end + 3;
}

// A block that begins with a comment: what stands behind the comment, on its last line, is read as inlines are.
function comment(text) {
  const end = commentEnd(text, 0);
  return end < 0 ? '' : `\0${inlines(text.slice(end))}`;
}
