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
	commands [][]string // the words of each simple command
	odd      bool       // something that this reader does not follow: a substitution, a redirection into a file, a here-document
}

// parseLine splits a command line as a shell does, without expanding anything.
func parseLine(text string) line {
	p := lineParser{}
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
		case c == '&' && (strings.HasSuffix(p.word.String(), ">") || strings.HasSuffix(p.word.String(), "<")): // as in 2>&1
			p.word.WriteByte(c)
		case strings.IndexByte(";|&\n()", c) >= 0:
			p.endCommand()
		case c == '<' && next == '<':
			p.odd = true
			p.letter(c)
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
}

func (p *lineParser) letter(c byte) {
	p.word.WriteByte(c)
	p.inWord = true
}

func (p *lineParser) endWord() {
	if p.inWord {
		p.words = append(p.words, p.word.String())
	}
	p.word.Reset()
	p.inWord = false
}

func (p *lineParser) endCommand() {
	p.endWord()
	words := p.words
	for len(words) > 0 && assignment(words[0]) {
		words = words[1:]
	}
	if len(words) > 0 {
		p.commands = append(p.commands, words)
	}
	p.words = nil
}

// assignment reports whether the word sets a variable for the command behind it.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// publishes reports whether the line pushes, or opens or merges a pull request. The verb may stand anywhere, behind sudo, env, time or
// xargs. What stands in quotes is looked at as well, because it may be a command for another shell: one check too many costs a question.
func (l line) publishes() bool {
	for _, words := range l.commands {
		for i, word := range words {
			rest := words[i+1:]
			switch path.Base(word) {
			case "git":
				if verb, _ := gitVerb(rest); verb == "push" {
					return true
				}
			case "gh":
				at := slices.Index(rest, "pr")
				if at >= 0 && (slices.Contains(rest[at:], "create") || slices.Contains(rest[at:], "merge")) {
					return true
				}
			}
			if strings.ContainsAny(word, " \t\n") && parseLine(word).publishes() {
				return true
			}
		}
	}
	return false
}

// gitVerb returns git's command, and the folder that -C names.
func gitVerb(words []string) (verb, dir string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-C" && i+1 < len(words):
			i++
			dir = join(dir, words[i])
		case (w == "-c" || w == "--git-dir" || w == "--work-tree" || w == "--namespace") && i+1 < len(words):
			i++
		case strings.HasPrefix(w, "-"):
		default:
			return w, dir
		}
	}
	return "", dir
}

// Commands that the fence lets through: this program, which is the way out, and what only looks.
var (
	looking    = []string{"label-state", "cd", "pwd", "echo", "true", "ls", "cat", "head", "tail", "wc", "grep", "rg", "jq", "sort"}
	gitLooking = []string{"status", "diff", "log", "show", "rev-parse", "blame", "ls-files"}
)

// harmless reports whether the line does nothing but look and call this program.
func (l line) harmless() bool {
	if l.odd || len(l.commands) == 0 {
		return false
	}
	for _, words := range l.commands {
		if slices.ContainsFunc(words, writes) {
			return false
		}
		verb, _ := gitVerb(words[1:])
		switch name := path.Base(words[0]); {
		case name == "git" && slices.Contains(gitLooking, verb) && !anyBegins(words, "--output", "-c", "--ext-diff", "--textconv", "--exec-path", "--config-env"):
		case slices.Contains(looking, name) && !anyBegins(words, "-o", "--output", "--pre", "--compress-program"): // a file or a program, of sort and rg
		default:
			return false
		}
	}
	return true
}

// anyBegins looks for an option by which a command that looks writes or runs something.
func anyBegins(words []string, options ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(options, func(option string) bool { return strings.HasPrefix(word, option) })
	})
}

// writes reports whether the word sends output into a file; /dev/null and another descriptor are none.
func writes(word string) bool {
	at := strings.IndexByte(word, '>')
	if at < 0 {
		return false
	}
	to := strings.TrimLeft(word[at:], ">")
	return to != "/dev/null" && !strings.HasPrefix(to, "&")
}

// dirs returns the folders that the line works in, as it names them: relative to where it starts, which is "".
// A name that a shell would expand is left out.
func (l line) dirs() []string {
	var out []string
	here := ""
	add := func(dir string) {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	for _, words := range l.commands {
		switch path.Base(words[0]) {
		case "cd", "pushd":
			if len(words) > 1 && plainName(words[1]) {
				here = join(here, words[1])
			}
		case "git":
			if _, dir := gitVerb(words[1:]); plainName(dir) {
				add(join(here, dir))
			}
		default:
			add(here)
		}
	}
	if len(out) == 0 {
		add(here)
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
