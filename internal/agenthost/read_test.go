package agenthost_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
)

// FuzzRead: whatever a host sends, the answer to it is nothing or one JSON object, and without a
// hold nobody is denied.
func FuzzRead(f *testing.F) {
	for _, h := range agenthost.Hosts() {
		data, err := os.ReadFile(filepath.Join("testdata", "events", string(h)+".txt"))
		if err != nil {
			f.Fatal(err)
		}

		for line := range strings.Lines(string(data)) {
			if text, ok := strings.CutPrefix(line, "in "+string(h)+" "); ok {
				f.Add(string(h), []byte(text))
			}
		}
	}

	f.Fuzz(func(t *testing.T, name string, text []byte) {
		h, ok := agenthost.Parse(name)
		if !ok {
			return
		}

		e, err := agenthost.Read(h, text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q", err)
			}
			return
		}

		if _, known := agenthost.Parse(string(e.Host)); !known || e.Host == agenthost.Plugin {
			t.Errorf("host %q", e.Host)
		}
		w := agenthost.World{Now: now, Known: true}
		if !agenthost.Decide(e, w).Nothing() || agenthost.Denies(e, w) != "" {
			t.Error("something follows from no hold")
		}

		for _, a := range []agenthost.Answer{{}, {Deny: "x"}, {Context: agenthost.StartText(e, w, nil, "../x")}} {
			if out := a.Text(e); out != "" && !json.Valid([]byte(out)) {
				t.Errorf("answer %q", out)
			}
		}
	})
}

func TestSessions(t *testing.T) {
	for _, c := range []struct {
		vars map[string]string
		want string
	}{
		{map[string]string{}, ""},
		{map[string]string{"CLAUDE_CODE_SESSION_ID": "a1"}, "claude-code:a1"},
		{map[string]string{"CODEX_SESSION_ID": "b", "COPILOT_AGENT_SESSION_ID": "c"}, "codex:b copilot:c"},
		{map[string]string{"LABEL_STATE_SESSION": "opencode:ses_1"}, "opencode:ses_1"},
		{map[string]string{"LABEL_STATE_SESSION": "claude-code:a1", "CLAUDE_CODE_SESSION_ID": "a1"}, "claude-code:a1"},
		{map[string]string{"LABEL_STATE_SESSION": "emacs:1"}, ""},
		{map[string]string{"LABEL_STATE_SESSION": "plugin:1"}, ""},
		{map[string]string{"CLAUDE_CODE_SESSION_ID": " ../.. "}, ""},
	} {
		var got []string
		for _, s := range agenthost.Sessions(func(name string) string { return c.vars[name] }) {
			got = append(got, s.String())
		}

		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %q, want %q", c.vars, got, c.want)
		}

		own := agenthost.Session{Host: agenthost.OpenCode, ID: "own"}
		within := agenthost.Within(own, func(name string) string { return c.vars[name] })
		if got := agenthost.Sessions(within); !slices.Equal(got, []agenthost.Session{own}) {
			t.Errorf("%v: %v, want the session within alone", c.vars, got)
		}
	}
}

// TestRun: firing ids of a session are told from those of every other one, whatever its id looks
// like.
func TestRun(t *testing.T) {
	long := strings.Repeat("x", 100)
	for id, want := range map[string]string{
		"5f2c7a10-0000": "5f2c7a10-0000", "../../etc": "etc", "a b\x1b[31m": "a-b--31m", "": "", "aZ_9.": "aZ_9.", "---": "",
		long: long[:55],
	} {
		s := agenthost.Session{Host: agenthost.Codex, ID: id}
		if got := s.Run(); got != want {
			t.Errorf("Run of %q is %q, want %q", id, got, want)
		}
	}

	s := agenthost.Session{Host: agenthost.Codex, ID: "ab"}
	for firing, want := range map[string]bool{
		"ab-0123abcd": true, "ab": false, "ab-": false, "abc-0123abcd": false,
		"ab-cd-0123abcd": false,
	} {
		if s.Made(firing) != want {
			t.Errorf("%s made %s: %v", s, firing, !want)
		}
	}

	if (agenthost.Session{Host: agenthost.Codex}).Made("-0123abcd") {
		t.Error("a session without an id made a firing id")
	}
}

func TestCommitted(t *testing.T) {
	at := time.Unix(1000, 0)
	line := func(from, to, when, message string) string {
		return from + " " + to + " a <a@b.c> " + when + " +0000\t" + message + "\n"
	}

	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"nothing":            {"", false},
		"before":             {line("a", "b", "999", "commit: x"), false},
		"a commit":           {line("a", "b", "1000", "commit: x"), true},
		"a new branch":       {line("a", "a", "1001", "checkout: moving from main to x"), false},
		"another branch":     {line("a", "b", "1001", "checkout: moving from main to x"), false},
		"a pull":             {line("a", "b", "1001", "pull: Fast-forward"), true},
		"a rebase":           {line("a", "b", "1001", "rebase (finish): x"), true},
		"an amended message": {line("a", "b", "1001", "commit (amend): checkout: x"), true},
		"not a reflog":       {"hello\n", true},
		"no time":            {"a b c <d> soon +0000\tcommit: x\n", true},
		"a name with a tab":  {"a b c <d> 1001 +0000\n", true},
	} {
		if got := agenthost.Committed(c.log, at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestFence: what of a command line the fence lets through under a lost hold, and what it takes for
// a push.
func TestFence(t *testing.T) {
	for command, want := range map[string]agenthost.Call{
		"cd /w/app && label-state release 42 --outcome failure": agenthost.Reads,
		"label-state claim 42":                  agenthost.Reads,
		"/usr/bin/label-state next | jq .issue": agenthost.Reads,
		"git status --short":                    agenthost.Reads,
		"git -C sub log -3 2>/dev/null":         agenthost.Reads,
		"cat a b | head -3; pwd":                agenthost.Reads,
		"cat a >b":                              agenthost.Runs,
		"label-state status 1 > out":            agenthost.Runs,
		"echo $(rm x)":                          agenthost.Runs,
		"echo `rm x`":                           agenthost.Runs,
		"echo \"$(rm x)\"":                      agenthost.Runs,
		"git diff --output=x":                   agenthost.Runs,
		"git -c core.pager=rm log":              agenthost.Runs,
		"sort -o a b":                           agenthost.Runs,
		"label-state next; rm x":                agenthost.Runs,
		"label-state next\nrm x":                agenthost.Runs,
		"label-state next & rm x":               agenthost.Runs,
		"cat script | sh":                       agenthost.Runs,
		"FOO=1 make":                            agenthost.Runs,
		"":                                      agenthost.Runs,
		"git push":                              agenthost.Publishes,
		"git -c a=b -C x --no-pager push -f":    agenthost.Publishes,
		"git --namespace a --git-dir .git push": agenthost.Publishes,
		"git --work-tree x push":                agenthost.Publishes,
		"sudo -u x git push":                    agenthost.Publishes,
		"true && (cd x; git push)":              agenthost.Publishes,
		"sh -c 'cd x && git push'":              agenthost.Publishes,
		`sh -c "git \"push\""`:                  agenthost.Publishes,
		"gh pr create --fill":                   agenthost.Publishes,
		"gh -R a/b pr merge 3":                  agenthost.Publishes,
		"git commit -m 'git push later'":        agenthost.Publishes, // one question too many
		"git pushd":                             agenthost.Runs,
		"echo unclosed 'x":                      agenthost.Runs,

		// what a shell reads in another way than word by word
		"git status # git push":                     agenthost.Reads,
		"ls # it's open":                            agenthost.Reads,
		"ls '#' ; git push":                         agenthost.Publishes,
		"! grep -q x a":                             agenthost.Reads,
		"time git status":                           agenthost.Reads,
		"time git push":                             agenthost.Publishes,
		"if test -e x; then git push; fi":           agenthost.Publishes,
		"for f in $(git push); do cat $f; done":     agenthost.Publishes,
		"f() { git push; }; f":                      agenthost.Publishes,
		"for f in a b; do cat $f; done":             agenthost.Runs,
		"[[ -e x ]] && ls":                          agenthost.Runs,
		"g\\it pu\"sh\"":                            agenthost.Publishes,
		"cat a <(git push)":                         agenthost.Publishes,
		"find . $(printf %s -delete)":               agenthost.Runs, // its words are not known
		"echo ${x:-$(git push)}":                    agenthost.Publishes,
		"if then git push":                          agenthost.Publishes, // no shell runs it
		"gh pr -R a/b create; )":                    agenthost.Publishes,
		"echo " + strings.Repeat("x", 40<<10):       agenthost.Runs,
		strings.Repeat("(", 100<<10) + "; git push": agenthost.Publishes,

		// what only looks
		"find . -name '*.go'":                             agenthost.Reads,
		"find . -name x -delete":                          agenthost.Runs,
		"find . -exec rm {} +":                            agenthost.Runs,
		"find . -okdir rm {} ;":                           agenthost.Runs,
		"find . -fprint x":                                agenthost.Runs,
		"stat x; which go; diff a b; tree -L 2":           agenthost.Reads,
		"tree -o x":                                       agenthost.Runs,
		"tree -ao x":                                      agenthost.Runs,
		"date; date -u +%s; date -d 2026-01-01; date -Is": agenthost.Reads,
		"date -s 10:00":                                   agenthost.Runs,
		"date -us 10:00":                                  agenthost.Runs,
		"date --set 10:00":                                agenthost.Runs,
		"date --set=10:00":                                agenthost.Runs,
		"date 11231200":                                   agenthost.Runs,
		"sed -n 1,5p x":                                   agenthost.Reads,
		"sed -n '/^func/,$p' a b":                         agenthost.Reads,
		"sed 1,5p x":                                      agenthost.Runs,
		"sed -n 1,5w x":                                   agenthost.Runs,
		"sed -n 1p x -i":                                  agenthost.Runs,
		"sed -ni 1p x":                                    agenthost.Runs,
		"git branch":                                      agenthost.Reads,
		"git branch -avv --sort=-committerdate":           agenthost.Reads,
		"git branch --list 'fix*'":                        agenthost.Reads,
		"git branch --contains HEAD":                      agenthost.Reads,
		"git branch fix":                                  agenthost.Runs,
		"git branch -D fix":                               agenthost.Runs,
		"git branch -a fix":                               agenthost.Runs,
		"git tag; git tag -l 'v*'":                        agenthost.Reads,
		"git tag v1":                                      agenthost.Runs,
		"git remote -v; git remote":                       agenthost.Reads,
		"git remote get-url origin":                       agenthost.Reads,
		"git remote add x y":                              agenthost.Runs,
		"git fetch":                                       agenthost.Reads,
		"git fetch --prune origin main":                   agenthost.Reads,
		"git fetch origin main:main":                      agenthost.Runs,
		"git fetch --upload-pack=x origin":                agenthost.Runs,
		"git grep x; git grep -c x":                       agenthost.Reads,
		"git grep -Oless x":                               agenthost.Runs,
		"git grep --open-files-in-pager=rm x":             agenthost.Runs,
		"git stash list":                                  agenthost.Reads,
		"git stash":                                       agenthost.Reads, // the fence lets it through
		"git stash push -u":                               agenthost.Reads,
		"cd x && git stash -u && git status":              agenthost.Reads,
		"git -c alias.stash=!make stash":                  agenthost.Runs,
		"git stash && make":                               agenthost.Runs,
		"git stash pop":                                   agenthost.Runs,
		"git stash drop":                                  agenthost.Runs,
		"./git stash":                                     agenthost.Runs,
		"git config --get user.name":                      agenthost.Reads,
		"git config --list --local":                       agenthost.Reads,
		"git config":                                      agenthost.Runs,
		"git config user.name x":                          agenthost.Runs,
		"git worktree list":                               agenthost.Reads,
		"git worktree add x":                              agenthost.Runs,
		"gh pr view":                                      agenthost.Reads,
		"gh pr view 5; gh issue view 5":                   agenthost.Reads,
		"gh repo view; gh run list":                       agenthost.Reads,
		"gh release delete v1":                            agenthost.Runs,
		"gh pr close 5":                                   agenthost.Runs,
		"gh issue close 5":                                agenthost.Runs,
		"gh api repos/a/b/issues -f title=x":              agenthost.Runs,
		"ls > /dev/null":                                  agenthost.Reads,
		"ls >/dev/null 2>&1 </dev/null":                   agenthost.Reads,
		"ls &> /dev/null":                                 agenthost.Reads,
		"ls > /dev/sda":                                   agenthost.Runs,
		"ls > /dev/nullx":                                 agenthost.Runs,
		"ls > out":                                        agenthost.Runs,
		"ls>out":                                          agenthost.Runs,
		"ls >> out":                                       agenthost.Runs,
		"ls >| out":                                       agenthost.Runs,
		"ls &> out":                                       agenthost.Runs,
		"ls >& out":                                       agenthost.Runs,
		"ls 2> out":                                       agenthost.Runs,
		"ls <> out":                                       agenthost.Runs,
		"grep '>' x | uniq -c":                            agenthost.Reads,
		"uniq a b":                                        agenthost.Runs,
		"grep -ro x .":                                    agenthost.Reads,
		"sort -uo a b":                                    agenthost.Runs,
		"sort --outp=a b":                                 agenthost.Runs,
		"grep -r \"git push\" .":                          agenthost.Reads,
		"timeout 5 label-state status 11":                 agenthost.Reads,
		"timeout 5s rm x":                                 agenthost.Runs,
		"timeout x ls":                                    agenthost.Runs,
		"timeout 5":                                       agenthost.Runs,
		"timeout -s KILL 5 ls":                            agenthost.Runs,
		"command -v go":                                   agenthost.Reads,
		"time make":                                       agenthost.Runs,
		"env rm x":                                        agenthost.Runs,
		"GIT_PAGER=cat git log":                           agenthost.Reads,
		"GIT_PAGER=rm git log":                            agenthost.Runs,
		"LC_ALL=C sort x":                                 agenthost.Reads,
		"LANG=C sort x":                                   agenthost.Reads,
		"NO_COLOR=1 git log":                              agenthost.Reads,
		"TZ=UTC git log":                                  agenthost.Reads,
		"PATH=. ls":                                       agenthost.Runs,
		"./ls":                                            agenthost.Runs,
		"git log | awk '{print $1}'":                      agenthost.Reads,
		"awk -F: '{print $1}' x":                          agenthost.Reads,
		"awk -F : '{print $1}' x":                         agenthost.Reads,
		"awk '{print > \"y\"}' x":                         agenthost.Runs,
		"awk '{print | \"sh\"}' x":                        agenthost.Runs,
		"awk 'BEGIN {system(\"rm x\")}'":                  agenthost.Runs,
		"awk -f x y":                                      agenthost.Runs,
		"awk -F":                                          agenthost.Runs,
		"find . -name x | xargs grep y":                   agenthost.Reads,
		"find . -print0 | xargs -0 grep y":                agenthost.Reads,
		"find . | xargs rm":                               agenthost.Runs,
		"find . | xargs sort":                             agenthost.Runs,
		"find . | xargs -I{} sh -c {}":                    agenthost.Runs,
		"git diff | sed 's/^+//'":                         agenthost.Reads,
		"git diff | sed -E 's|a/(b)|\\1|g'":               agenthost.Reads,
		"sed 's/a/b/w y' x":                               agenthost.Runs,
		"sed 's/a/b/e' x":                                 agenthost.Runs,
		"sed 's/a/b/;w y' x":                              agenthost.Runs,
		"sed -i 's/a/b/' x":                               agenthost.Runs,
		"sed 's/a/b/' -i x":                               agenthost.Runs,
		"less x":                                          agenthost.Reads,
		"less -o y x":                                     agenthost.Runs,
		"less '+!make' x":                                 agenthost.Runs,

		// pushes
		"git push>/dev/null":         agenthost.Publishes,
		"git push>/dev/null 2>&1":    agenthost.Publishes,
		"git push 2>&1":              agenthost.Publishes,
		"out=`git push 2>&1`":        agenthost.Publishes,
		"out=$(git push 2>&1)":       agenthost.Publishes,
		"echo \"`git push`\"":        agenthost.Publishes,
		"(cd /tmp && ls); git push":  agenthost.Publishes,
		"git -C $(pwd) push":         agenthost.Publishes,
		"git -C `pwd` push":          agenthost.Publishes,
		"$GIT push":                  agenthost.Publishes,
		"git $VERB # push":           agenthost.Publishes,
		"echo push | xargs git":      agenthost.Publishes,
		"git subtree push -P x a b":  agenthost.Publishes,
		"git send-pack origin main":  agenthost.Publishes,
		"gh pr new":                  agenthost.Publishes,
		"$GH pr new":                 agenthost.Publishes,
		"git commit -m \"$(cat x)\"": agenthost.Runs,
		"make $TARGET":               agenthost.Runs,
	} {
		text, err := json.Marshal(map[string]any{
			"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
			"tool_input": map[string]string{"command": command},
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := agenthost.Read(agenthost.Codex, text)
		if err != nil || e.Call != want {
			t.Errorf("%q is %q, %v; want %q", command, e.Call, err, want)
		}
	}
}

// TestWhere: the folders that a command line works in.
func TestWhere(t *testing.T) {
	for command, want := range map[string]string{
		"git push":                           "",
		"cd x && git push":                   "x",
		"(cd /tmp && ls); git push":          "/tmp,",
		"cd /tmp && ls; cd - && git push":    "/tmp,",
		"pushd /tmp; popd; git push":         "",
		"pushd /tmp; ls; pushd; git push":    "/tmp,",
		"`cd /tmp`; git push":                "",
		"git -C $(pwd) push":                 "",
		"cd x; git -C $DIR push":             "x",
		"cd /tmp; ls; cd \"$DIR\"; git push": "/tmp,",
		"bash -lc 'cd /w/app && git push'":   ",/w/app",
		"cd a; (cd b; cd c; make); make":     "a/b/c,a",
		"make)":                              "",
	} {
		text, err := json.Marshal(map[string]any{
			"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
			"tool_input": map[string]string{"command": command},
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := agenthost.Read(agenthost.Codex, text)
		if got := strings.Join(e.Dirs, ","); err != nil || got != want {
			t.Errorf("%q works in %q, %v; want %q", command, got, err, want)
		}
	}
}

// TestChanges: which tool calls may change something, so that the session's end releases nothing.
func TestChanges(t *testing.T) {
	for input, want := range map[string]bool{
		`"tool_name":"Bash","tool_input":{"command":"git log; label-state claim 1 --json"}`: false,
		`"tool_name":"Bash","tool_input":{"command":"label-state next --run -- agent"}`:     true,
		`"tool_name":"Bash","tool_input":{"command":"timeout 5 label-state run 1 -- make"}`: true,
		`"tool_name":"Bash","tool_input":{"command":"git stash"}`:                           true,
		`"tool_name":"Bash","tool_input":{"command":"ls > out"}`:                            true,
		`"tool_name":"Bash","tool_input":{}`:                                                true,
		`"tool_name":"Read","tool_input":{"file_path":"a"}`:                                 false,
		`"tool_name":"Write","tool_input":{"file_path":"a"}`:                                true,
		`"tool_name":"Task","tool_input":{}`:                                                true,
		`"tool_name":"mcp__files__put","tool_input":{}`:                                     true,
		`"tool_name":"mcp__label-state__claim","tool_input":{}`:                             false,
		`"tool_name":"mcp__github__create_pull_request","tool_input":{}`:                    true,
	} {
		e, err := agenthost.Read(agenthost.Codex,
			[]byte(`{"session_id":"s","hook_event_name":"PostToolUse",`+input+`}`))
		if err != nil || e.Changes != want {
			t.Errorf("%s: %v, %v", input, e.Changes, err)
		}
	}

	if e, err := agenthost.Read(agenthost.Codex,
		[]byte(`{"session_id":"s","hook_event_name":"UserPromptSubmit"}`)); err != nil || e.Changes {
		t.Errorf("a prompt: %v, %v", e.Changes, err)
	}
}
