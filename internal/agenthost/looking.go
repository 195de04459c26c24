package agenthost

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// harmless reports whether the line does nothing but look and call this program, which is the way
// out of a denial. What is not known to only look does more. docs/agents.md has them in short.
func (l line) harmless() bool { return l.only(looks) }

// only reports whether every command of the line is one of those, and nothing else in it does
// anything.
func (l line) only(these func(words []string) bool) bool {
	more := slices.ContainsFunc(l.commands, func(c command) bool { return c.shell == 0 && !these(c.words) })
	return len(l.commands) > 0 && !more && !l.odd && !l.writes
}

// putsAside reports whether the line puts changes aside with git stash, and does nothing else.
func (l line) putsAside() bool {
	return l.only(func(words []string) bool { return looks(words) || stashes(words) })
}

// stashes reports whether a simple command is git stash, which loses nothing: not pop, drop or
// clear.
func stashes(words []string) bool {
	if len(words) == 0 || words[0] != "git" {
		return false
	}
	verb, _, rest := gitVerb(words[1:])
	before := words[1 : len(words)-len(rest)]

	return verb == "stash" && !anyBegins(before, "-c", "--config-env", "--exec-path") &&
		(len(rest) == 0 || rest[0] == "push" || rest[0] == "save" || strings.HasPrefix(rest[0], "-"))
}

// looks reports whether a simple command only looks.
func looks(words []string) bool {
	if len(words) == 0 {
		return false
	}
	name, rest := path.Base(words[0]), words[1:]
	if name != words[0] && !path.IsAbs(words[0]) && name != "label-state" {
		return false // a file of the repository
	}

	switch name {
	case "label-state", "cd", "pushd", "popd", "pwd", "echo", "printf", "true", "false", "test", "[", "sleep",
		"ls", "stat", "which", "type", "du", "df", "basename", "dirname", "realpath", "readlink",
		"cat", "head", "tail", "wc", "cut", "tr", "nl", "grep", "egrep", "fgrep", "jq", "diff", "cmp", "comm", "md5sum",
		"sha256sum",
		"whoami", "id", "uname", "printenv":
		return true
	case "rg":
		return !anyBegins(rest, "--pre", "--hostname-bin")
	case "sort":
		return !anyBegins(rest, "--o", "--co") && !anyLetter(rest, "o")
	case "uniq": // its second file is written
		return !slices.ContainsFunc(rest, func(w string) bool { return !strings.HasPrefix(w, "-") })
	case "tree":
		return !anyLetter(rest, "oR")
	case "find":
		return !anyBegins(rest, "-delete", "-exec", "-ok", "-fprint", "-fls")
	case "date":
		return dateLooks(rest)
	case "sed":
		return sedLooks(rest)
	case "awk":
		return awkLooks(rest)
	case "xargs":
		return xargsLooks(rest)
	case "less": // a letter or a word may write what is shown, or run a command
		return !anyLetter(rest, "oOkP") && !anyBegins(rest, "--l", "--L", "+")
	case "git":
		return gitLooks(rest)
	case "gh":
		return ghLooks(rest)
	case "env":
		return len(rest) == 0
	case "command", "time":
		if len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			return name == "command" && (rest[0] == "-v" || rest[0] == "-V")
		}
		return looks(rest)
	case "timeout":
		return len(rest) > 1 && isNumber(strings.TrimRight(rest[0], "smhd")) && looks(rest[1:])
	}

	return false
}

// anyBegins looks for an option by which a command that looks writes or runs something. Long
// options may be cut short.
func anyBegins(words []string, options ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(options, func(option string) bool { return strings.HasPrefix(word, option) })
	})
}

// anyLetter looks for short options, which may stand behind others after one dash.
func anyLetter(words []string, letters string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.ContainsAny(word, letters)
	})
}

// dateLooks: an operand that is not a format sets the clock.
func dateLooks(rest []string) bool {
	for i := 0; i < len(rest); i++ {
		switch w := rest[i]; {
		case w == "-d", w == "-r", w == "--date", w == "--reference":
			i++
		case strings.HasPrefix(w, "+"), w == "-u", w == "-R", strings.HasPrefix(w, "-I"), strings.HasPrefix(w, "--") &&
			!strings.HasPrefix(w, "--s"):
		default:
			return false
		}
	}

	return true
}

// sedLooks: -n and a script that prints lines.
func sedLooks(rest []string) bool {
	prints := regexp.MustCompile(`^(([0-9]+|\$|/[^/\\]*/)(,([+~]?[0-9]+|\$|/[^/\\]*/))?)?p$`)
	quiet := false
	for len(rest) > 0 && slices.Contains([]string{"-n", "-E", "-r", "-nE", "-En", "-nr", "--quiet", "--silent"},
		rest[0]) {
		quiet = quiet || rest[0] != "-E" && rest[0] != "-r"
		rest = rest[1:]
	}

	if len(rest) == 0 || anyBegins(rest[1:], "-") {
		return false
	}

	return quiet && prints.MatchString(rest[0]) || replaces(rest[0])
}

// replaces reports whether a script of sed is one substitution, without the flags that write a file
// or run what comes out.
func replaces(script string) bool {
	for _, mark := range []string{"/", "|", ",", "#"} {
		quoted := regexp.QuoteMeta(mark)
		text := `([^\\\n` + mark + `]|\\.)*`
		if regexp.MustCompile(`^s` + quoted + text + quoted + text + quoted + `[gIip0-9]*$`).MatchString(script) {
			return true
		}
	}

	return false
}

// awkLooks: a script that neither writes, nor runs, nor reads more than it is given.
func awkLooks(rest []string) bool {
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-F") {
		rest = rest[min(len(rest), 2-min(len(rest[0])-2, 1)):]
	}
	if len(rest) == 0 || anyBegins(rest, "-") {
		return false
	}

	return !strings.ContainsAny(rest[0], ">|@") && !strings.Contains(rest[0], "system") &&
		!strings.Contains(rest[0], "getline")
}

// xargsLooks: what is read becomes arguments, so that only commands without an option that writes
// do.
func xargsLooks(rest []string) bool {
	for len(rest) > 0 && slices.Contains([]string{"-0", "-r", "-0r", "-r0"}, rest[0]) {
		rest = rest[1:]
	}
	plain := []string{
		"grep", "egrep", "fgrep", "cat", "head", "tail", "wc", "ls", "stat", "cut", "nl", "md5sum",
		"sha256sum",
	}
	return len(rest) > 0 && slices.Contains(plain, rest[0])
}

// gitLooks: -c and its like name programs, and so do some options of the commands.
func gitLooks(words []string) bool {
	verb, _, rest := gitVerb(words)
	before := words[:max(0, len(words)-len(rest)-1)]
	if anyBegins(before, "-c", "--config-env", "--exec-path") ||
		anyBegins(rest, "--ou", "--ext", "--textc", "--filters", "--open") {
		return false
	}

	only := func(options ...string) bool { // nothing but these
		return !slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(options, w) })
	}
	first := ""
	if len(rest) > 0 {
		first = rest[0]
	}

	switch verb {
	case "status", "diff", "log", "show", "rev-parse", "rev-list", "blame",
		"ls-files", "ls-tree", "cat-file", "describe", "shortlog", "merge-base", "for-each-ref":
		return true
	case "grep":
		return !anyLetter(rest, "O")
	case "branch", "tag":
		return listLooks(rest)
	case "remote":
		return only("-v", "--verbose") || first == "show" || first == "get-url"
	case "stash":
		return first == "list" || first == "show"
	case "worktree":
		return first == "list"
	case "config":
		return slices.Contains([]string{"--get", "--get-all", "--get-regexp", "get", "list"}, first) || len(rest) > 0 &&
			only("--list", "-l", "--show-origin", "--local", "--global")

	case "fetch": // a colon names a branch to be written, or a URL
		return !slices.ContainsFunc(rest, func(w string) bool {
			known := slices.Contains([]string{
				"--all", "--prune", "-p", "--tags", "-t", "--no-tags", "--quiet", "-q",
				"--verbose", "-v", "--dry-run",
			}, w)
			return !known && (strings.HasPrefix(w, "-") || strings.ContainsAny(w, ":+"))
		})
	}

	return false
}

// listLooks: a name makes a branch or a tag, unless an option says that the command lists.
func listLooks(rest []string) bool {
	lists, names := false, false
	for _, w := range rest {
		switch option, _, _ := strings.Cut(w, "="); option {
		case "--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at":
			lists = true
		case "--all", "--remotes", "--verbose", "--show-current", "--sort", "--format",
			"--no-color", "--color", "--column", "--no-column":
		default:
			if strings.HasPrefix(w, "-") && strings.Trim(w, "-arv") != "" {
				return false
			}
			names = names || !strings.HasPrefix(w, "-")
		}
	}

	return lists || !names
}

func ghLooks(rest []string) bool {
	if len(rest) < 2 {
		return false
	}

	switch rest[0] {
	case "pr", "issue":
		return slices.Contains([]string{"view", "list", "status", "diff", "checks"}, rest[1])
	case "repo", "run", "release", "workflow":
		return rest[1] == "view" || rest[1] == "list"
	}

	return false
}

// changes reports whether the line may change something. This program's commands that only ask and
// record do not.
func (l line) changes() bool {
	for _, c := range l.commands {
		at := slices.IndexFunc(c.words, func(w string) bool { return path.Base(w) == "label-state" })
		if at < 0 || at+1 >= len(c.words) {
			continue
		}

		switch c.words[at+1] {
		case "claim", "next", "renew", "release", "plan", "status", "log", "board", "stats",
			"doctor", "dedup-check", "version", "help":
			if slices.Contains(c.words, "--run") {
				return true
			}
		default:
			return true
		}
	}

	return !l.harmless()
}

// onlyReads reports whether a tool, by its name in small letters, only reads: those of the hosts
// that are known to, and this program's.
func onlyReads(tool string) bool {
	switch tool {
	case "read", "grep", "glob", "ls", "list", "view", "notebookread", "webfetch", "websearch", "todowrite", "todoread",
		"toolsearch", "askuserquestion", "bashoutput",
		"read_file", "read_many_files", "list_directory", "list_dir", "search_file_content", "grep_search",
		"grep_files", "google_web_search", "web_fetch", "web_search",
		"update_plan", "view_image":
		return true
	}

	return strings.Contains(tool, "label-state") // each host puts its own words around a server's name
}
