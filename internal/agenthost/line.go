package agenthost

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// A line is a shell command line as far as it is understood here. Understanding is advisory: scripts, aliases and running
// shells are not seen through, and git's own hook is behind all of them.
type line struct {
	text     string
	commands []command
	writes   bool // output goes into a file; /dev/null and another descriptor are none
	odd      bool // something that this reader does not follow: a substitution, a here-document, a variable set for a command
}

// A command is the words of a simple command without its redirections, or the begin or end of a subshell.
type command struct {
	words []string
	shell byte // '(' or ')' of a subshell, else 0
}

// parseLine splits a command line as a shell does, without expanding anything.
func parseLine(text string) line {
	p := lineParser{line: line{text: text}}
	for i := 0; i < len(text); i++ {
		c, next := text[i], byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case p.quote == '\'' && c != '\'', p.quote == '"' && c != '"' && c != '\\' && c != '`' && (c != '$' || next != '('):
			p.word.WriteByte(c)
		case p.quote != 0 && c == p.quote:
			p.quote = 0
		case c == '`' && p.quote == 0:
			p.endCommand()
			shell := byte('(')
			if p.back {
				shell = ')'
			}
			p.commands = append(p.commands, command{shell: shell})
			p.odd, p.back = true, !p.back
		case c == '`', c == '$' && next == '(':
			p.odd = true
			p.letter(c)
		case c == '\\' && next == '\n':
			i++
		case c == '\\' && next != 0:
			p.letter(next)
			i++
		case c == '\'', c == '"':
			p.quote, p.inWord = c, true
		case c == ' ', c == '\t':
			p.endWord()
		case c == '<', c == '>', c == '&' && next == '>':
			i += p.redirect(text[i:])
		case strings.IndexByte(";|&\n()", c) >= 0:
			p.endCommand()
			if c == '(' || c == ')' {
				p.commands = append(p.commands, command{shell: c})
			}
		default:
			p.letter(c)
		}
	}
	p.odd = p.odd || p.quote != 0
	p.endCommand()
	return p.line
}

type lineParser struct {
	line
	words  []string
	word   strings.Builder
	inWord bool
	quote  byte
	back   bool   // in backquotes
	target string // the operator whose file the next word is
}

func (p *lineParser) letter(c byte) {
	p.word.WriteByte(c)
	p.inWord = true
}

// redirect begins a redirection at text, and returns how many letters of its operator follow the first one.
func (p *lineParser) redirect(text string) (more int) {
	if !isNumber(p.word.String()) { // a number is the descriptor
		p.endWord()
	}
	p.word.Reset()
	p.inWord = false
	for _, operator := range []string{"&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<&", "<>", "<<", ">", "<"} {
		if strings.HasPrefix(text, operator) {
			p.target = operator
			break
		}
	}
	behind := text[len(p.target):]
	p.odd = p.odd || strings.HasPrefix(p.target, "<<") || strings.HasPrefix(behind, "(") // a here-document, a process
	return len(p.target) - 1
}

func (p *lineParser) endWord() {
	word := p.word.String()
	switch {
	case !p.inWord:
		return
	case p.target == "":
		p.words = append(p.words, word)
	case (p.target == ">&" || p.target == "<&") && (isNumber(word) || word == "-"):
	case strings.Contains(p.target, ">") && word != "/dev/null":
		p.writes = true
	}
	p.word.Reset()
	p.inWord, p.target = false, ""
}

func (p *lineParser) endCommand() {
	p.endWord()
	words := p.words
	for len(words) > 0 && assignment(words[0]) {
		name, _, _ := strings.Cut(words[0], "=")
		plain := strings.HasSuffix(words[0], "PAGER=cat") || name == "LANG" || name == "TZ" || name == "NO_COLOR" || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "LABEL_STATE_")
		p.odd = p.odd || !plain // it may name a program, as PATH and GIT_EXTERNAL_DIFF do
		words = words[1:]
	}
	if len(words) > 0 {
		p.commands = append(p.commands, command{words: words})
	}
	p.words, p.target = nil, ""
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" && word != "" }

// assignment reports whether the word sets a variable for the command behind it.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// publishes reports whether the line pushes, or opens or merges a pull request. The verb may stand anywhere, behind sudo, env, time or
// xargs. What stands in quotes is looked at as well, because it may be a command for another shell, and a line that is not understood
// counts when it has the words: one check too many costs a question.
func (l line) publishes() bool {
	pushes := strings.Contains(l.text, "push")
	for _, c := range l.commands {
		for i, word := range c.words {
			rest := c.words[i+1:]
			switch path.Base(word) {
			case "git":
				verb, _, behind := gitVerb(rest)
				switch verb {
				case "push", "send-pack":
					return true
				case "subtree", "lfs", "submodule":
					if slices.Contains(behind, "push") {
						return true
					}
				case "": // behind xargs
					if pushes {
						return true
					}
				}
			case "gh":
				at := slices.Index(rest, "pr")
				if at >= 0 && slices.ContainsFunc(rest[at:], func(w string) bool { return w == "create" || w == "new" || w == "merge" }) {
					return true
				}
			}
			if strings.ContainsAny(word, " \t\n") && parseLine(word).publishes() {
				return true
			}
		}
	}
	vague := l.odd || strings.Contains(l.text, "$")
	opens := slices.ContainsFunc([]string{"create", "new", "merge"}, func(w string) bool { return strings.Contains(l.text, "pr "+w) })
	return vague && (pushes || opens)
}

// gitVerb returns git's command, the folder that -C names, and what stands behind the command.
func gitVerb(words []string) (verb, dir string, behind []string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-C" && i+1 < len(words):
			i++
			dir = join(dir, words[i])
		case (w == "-c" || w == "--git-dir" || w == "--work-tree" || w == "--namespace") && i+1 < len(words):
			i++
		case strings.HasPrefix(w, "-"):
		default:
			return w, dir, words[i+1:]
		}
	}
	return "", dir, nil
}

// dirs returns the folders that the line works in, as it names them: relative to where it starts, which is "".
// A name that a shell would expand is left out: the line may be where it started.
func (l line) dirs() []string {
	type place struct {
		here, before string
		stack        []string // of pushd
	}
	var at place
	var out []string
	var outer []place
	add := func(dir string) {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	enter := func(dir string) {
		at.before = at.here
		if at.here = join(at.here, dir); !plainName(dir) {
			at.here = ""
		}
	}
	for _, c := range l.commands {
		switch {
		case c.shell == '(':
			outer = append(outer, at)
			continue
		case c.shell == ')' && len(outer) > 0:
			at, outer = outer[len(outer)-1], outer[:len(outer)-1]
			continue
		case c.shell != 0:
			continue
		}
		to := slices.DeleteFunc(slices.Clone(c.words[1:]), func(w string) bool { return w != "-" && strings.HasPrefix(w, "-") })
		switch path.Base(c.words[0]) {
		case "cd":
			switch {
			case len(to) == 0:
			case to[0] == "-":
				at.here, at.before = at.before, at.here
			default:
				enter(to[0])
			}
		case "pushd":
			if len(to) > 0 {
				at.stack = append(at.stack[:len(at.stack):len(at.stack)], at.here)
				enter(to[0])
			} else if n := len(at.stack) - 1; n >= 0 {
				at.stack = slices.Clone(at.stack)
				at.here, at.stack[n] = at.stack[n], at.here
			}
		case "popd":
			if n := len(at.stack) - 1; n >= 0 {
				at.here, at.stack = at.stack[n], at.stack[:n]
			}
		case "git":
			_, dir, _ := gitVerb(c.words[1:])
			if !plainName(dir) {
				dir = ""
			}
			add(join(at.here, dir))
		default:
			add(at.here)
		}
		for _, word := range c.words { // a push in quotes may be a command for another shell
			if strings.ContainsAny(word, " \t\n") {
				if inner := parseLine(word); inner.publishes() {
					for _, dir := range inner.dirs() {
						add(join(at.here, dir))
					}
				}
			}
		}
	}
	if len(out) == 0 {
		add(at.here)
	}
	return out
}

func plainName(name string) bool {
	return !strings.ContainsAny(name, "$~*?`") && !strings.HasPrefix(name, "-")
}

// join is a path below another, or itself when it is absolute.
func join(dir, name string) string {
	if path.IsAbs(name) || dir == "" || name == "" {
		return cmp.Or(name, dir)
	}
	return path.Join(dir, name)
}
