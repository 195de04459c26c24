package agenthost

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A line is a shell command line as far as it is understood here. Understanding is advisory:
// scripts, aliases and running shells are not seen through, and git's own hook is behind all of
// them.
type line struct {
	text     string
	commands []command
	writes   bool // output goes into a file; /dev/null and another descriptor are none
	// something that this reader does not follow: a substitution, a here-document, a variable set
	// for a command
	odd bool
}

// A command is the words of a simple command without its redirections, or the begin or end of a
// subshell.
type command struct {
	words []string
	shell byte // '(' or ')' of a subshell, else 0
}

// longestLine bounds what is parsed, in bytes: a longer line has other people's text in it, and the
// parser needs seconds for a hundred thousand opening brackets.
const longestLine = 32 << 10

// parseLine reads a command line as bash does, without expanding anything.
func parseLine(text string) line {
	file, err := (*syntax.File)(nil), errLong
	if len(text) <= longestLine {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	}

	if err != nil {
		return unparsed(text)
	}

	w := walker{line: line{text: text}}
	w.statements(file.Stmts)
	return w.line
}

var errLong = errors.New("too long")

// unparsed is a line that no shell would run as it is, or that is too long: its words, wherever
// they stand.
func unparsed(text string) line {
	l := line{text: text, odd: true}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";|&()\n`", r) }) {
		if words := strings.Fields(part); len(words) > 0 {
			l.commands = append(l.commands, command{words: words})
		}
	}

	return l
}

// A walker collects the commands of a line, those inside of substitutions too.
type walker struct{ line }

func (w *walker) statements(all []*syntax.Stmt) {
	for _, s := range all {
		w.statement(s)
	}
}

func (w *walker) statement(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		w.redirect(r)
	}

	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.call(c)
	case *syntax.BinaryCmd:
		w.statement(c.X)
		w.statement(c.Y)
	case *syntax.Subshell:
		w.subshell(c.Stmts)
	case *syntax.Block:
		w.statements(c.Stmts)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.statement(c.Stmt)
		}

	default: // a loop, a condition, a function, export, [[: what it does is not followed, but the commands in it are
		w.commands = append(w.commands, command{words: strings.Fields(w.source(c))[:1]})
		w.inside(c)
	}
}

// inside collects the statements anywhere below a node.
func (w *walker) inside(top syntax.Node) {
	syntax.Walk(top, func(n syntax.Node) bool {
		if s, is := n.(*syntax.Stmt); is {
			w.statement(s)
			return false
		}
		return true
	})
}

// subshell collects statements that run in a shell of their own.
func (w *walker) subshell(all []*syntax.Stmt) {
	w.commands = append(w.commands, command{shell: '('})
	w.statements(all)
	w.commands = append(w.commands, command{shell: ')'})
}

// call collects a simple command. A variable that is set for it may name a program, as PATH and
// GIT_EXTERNAL_DIFF do.
func (w *walker) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		w.odd = w.odd || !harmlessVariable(a)
		if a.Value != nil {
			w.word(a.Value)
		}
	}

	var words []string
	for _, arg := range c.Args {
		words = append(words, w.word(arg))
	}

	if len(words) > 0 {
		w.commands = append(w.commands, command{words: words})
	}
}

// harmlessVariable reports whether an assignment before a command makes it do nothing else.
func harmlessVariable(a *syntax.Assign) bool {
	if a.Name == nil || a.Value == nil {
		return false
	}
	name := a.Name.Value
	switch {
	case strings.HasSuffix(name, "PAGER"):
		return a.Value.Lit() == "cat"
	case strings.HasPrefix(name, "LC_"), strings.HasPrefix(name, "LABEL_STATE_"):
		return true
	}

	return name == "LANG" || name == "TZ" || name == "NO_COLOR"
}

// redirect notes whether a redirection writes a file, and here-documents, which are not followed.
func (w *walker) redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		w.odd = true
		if r.Hdoc != nil {
			w.word(r.Hdoc)
		}
	}

	if r.Word == nil {
		return
	}

	to := w.word(r.Word)
	copies := (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && (isNumber(to) || to == "-")
	if strings.Contains(r.Op.String(), ">") && !copies && to != "/dev/null" {
		w.writes = true
	}
}

// word is a word without its quotes. What a shell would expand stays as it is written; commands in
// it are collected.
func (w *walker) word(word *syntax.Word) string {
	var b strings.Builder
	for _, part := range word.Parts {
		w.part(&b, part, false)
	}
	return b.String()
}

func (w *walker) part(b *strings.Builder, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.WriteString(unescaped(p.Value, quoted))
		return

	case *syntax.SglQuoted:
		b.WriteString(p.Value)
		return

	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			w.part(b, inner, true)
		}
		return

	case *syntax.ProcSubst:
		w.odd = true
		w.subshell(p.Stmts)

	default: // a command, or a variable or arithmetic with one substituted in it
		syntax.Walk(part, func(n syntax.Node) bool {
			inner, is := n.(*syntax.CmdSubst)
			if is {
				w.odd = true
				w.subshell(inner.Stmts)
			}
			return !is
		})
	}

	b.WriteString(w.source(part))
}

// source is the text of a node as it is written.
func (w *walker) source(n syntax.Node) string {
	return w.text[n.Pos().Offset():n.End().Offset()]
}

// unescaped takes backslashes out; within double quotes only those that quote something there.
func unescaped(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\", text[i+1]) >= 0) {
			i++
		}
		b.WriteByte(text[i])
	}

	return b.String()
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" && word != "" }

// publishes reports whether the line pushes, or opens or merges a pull request. The verb may appear
// anywhere, after sudo, env, time or xargs. What stands in quotes is looked at as well, because it
// may be a command for another shell.
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
				if at >= 0 && slices.ContainsFunc(rest[at:],
					func(w string) bool { return w == "create" || w == "new" || w == "merge" }) {
					return true
				}
			}

			if l.quotes(word) && parseLine(word).publishes() {
				return true
			}
		}
	}

	return false
}

// mayPublish reports whether a line that is not understood has the words of one that publishes.
func (l line) mayPublish() bool {
	pushes := strings.Contains(l.text, "push")
	vague := l.odd || strings.Contains(l.text, "$")
	opens := slices.ContainsFunc([]string{"create", "new", "merge"},
		func(w string) bool { return strings.Contains(l.text, "pr "+w) })
	if vague && (pushes || opens) {
		return true
	}

	return slices.ContainsFunc(l.commands, func(c command) bool {
		return slices.ContainsFunc(c.words,
			func(word string) bool { return l.quotes(word) && parseLine(word).mayPublish() })
	})
}

// quotes reports whether a word may be a command line of its own, for another shell.
func (l line) quotes(word string) bool {
	return strings.ContainsAny(word, " \t\n") && len(word) < len(l.text)
}

// gitVerb returns git's command, the folder that -C names, and what stands behind the command.
func gitVerb(words []string) (verb, dir string, behind []string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-C" && i+1 < len(words):
			i++
			dir = join(dir, words[i])
		case w == "-c" || w == "--git-dir" || w == "--work-tree" || w == "--namespace":
			i++
		case strings.HasPrefix(w, "-"):
		default:
			return w, dir, words[i+1:]
		}
	}

	return "", dir, nil
}

// dirs returns the folders that the line works in, as it names them: relative to where it starts,
// which is "". A name that a shell would expand is left out: the line may be where it started.
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

		to := slices.DeleteFunc(slices.Clone(c.words[1:]),
			func(w string) bool { return w != "-" && strings.HasPrefix(w, "-") })
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
			if l.quotes(word) {
				if inner := parseLine(word); inner.publishes() || inner.mayPublish() {
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
