package setup_test

import (
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/process"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
)

// ancestors are the numbers of the processes above a program, the nearest first.
type ancestors []int

func (a ancestors) Above() iter.Seq[process.Process] {
	return func(yield func(process.Process) bool) {
		for _, pid := range a {
			if !yield(process.Process{ID: numbered(pid), Name: "p"}) {
				return
			}
		}
	}
}

// Gone is true of number 99, and of what is no process.
func (a ancestors) Gone(p process.ID) bool { return p.PID == 99 || p.IsZero() }

// numbered is a process; 0 is one of which nothing is known.
func numbered(pid int) process.ID {
	if pid == 0 {
		return process.ID{}
	}
	return process.ID{PID: pid, Start: "1", Place: "here"}
}

// TestNearestSession: of the sessions around a program the one whose host's process is nearest is
// the one that it runs in; the environment decides where that leaves it open.
func TestNearestSession(t *testing.T) {
	known := map[agenthost.Session]int{ // and the process of its host
		{Host: agenthost.ClaudeCode, ID: "outer"}: 10,
		{Host: agenthost.Codex, ID: "inner"}:      20,
		{Host: agenthost.OpenCode, ID: "one"}:     30,
		{Host: agenthost.OpenCode, ID: "two"}:     30,
		{Host: agenthost.Gemini, ID: "placed"}:    70,
		{Host: agenthost.Cursor, ID: "editor"}:    40,
		{Host: agenthost.Gemini, ID: "unplaced"}:  0,
	}

	for name, c := range map[string]struct {
		above ancestors
		env   map[string]string
		want  string
		all   int // sessions that are around the program
	}{
		"none":                              {nil, nil, ":", 0},
		"nothing is known of what is above": {ancestors{0}, nil, ":", 0},
		"by its process alone":              {ancestors{19, 10, 1}, nil, "claude-code:outer", 1},
		"nested": {
			ancestors{20, 10},
			map[string]string{"CLAUDE_CODE_SESSION_ID": "outer", "CODEX_SESSION_ID": "inner"},
			"codex:inner", 2,
		},
		"of an earlier session": {
			ancestors{10},
			map[string]string{"CLAUDE_CODE_SESSION_ID": "earlier"},
			"claude-code:outer", 2,
		},
		"of a host whose commands name theirs, and another is named": {
			ancestors{10},
			map[string]string{"LABEL_STATE_SESSION": "gemini:g1"},
			"gemini:g1", 1,
		},
		"of a host whose commands need not name theirs, and another is named": {
			ancestors{70},
			map[string]string{"LABEL_STATE_SESSION": "codex:x"},
			"gemini:placed", 2,
		},
		"two in one process, unnamed": {ancestors{30, 10}, nil, ":", 0},
		"two in one process, named": {
			ancestors{30, 10},
			map[string]string{"LABEL_STATE_SESSION": "opencode:two"},
			"opencode:two", 1,
		},
		"two in one process, named beside another": {
			ancestors{30, 10},
			map[string]string{"LABEL_STATE_SESSION": "opencode:two", "CODEX_SESSION_ID": "x"},
			"opencode:two", 2,
		},
		"several, and the codename is a host's": {
			ancestors{50},
			map[string]string{"CODEX_SESSION_ID": "x", "CLAUDE_CODE_SESSION_ID": "y", "LABEL_STATE_CODENAME": "codex"},
			"codex:x", 2,
		},
		"a host that does not say which": {nil, map[string]string{"GEMINI_CLI": "1"}, ":", 0},
		"a terminal of an editor":        {ancestors{40}, nil, ":", 0},
		"no process is known": {
			ancestors{50},
			map[string]string{"CODEX_SESSION_ID": "other"},
			"codex:other", 1,
		},
		"several, and none is near": {
			ancestors{50},
			map[string]string{"CODEX_SESSION_ID": "x", "CLAUDE_CODE_SESSION_ID": "y"},
			":", 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"LABEL_STATE_HOME": t.TempDir()}
			for variable, value := range c.env {
				env[variable] = value
			}

			e := setup.Environment{Getenv: func(name string) string { return env[name] }, Processes: c.above}
			files, err := e.SessionFiles()
			if err != nil {
				t.Fatal(err)
			}

			for s, pid := range known {
				place := func(s *state.Session) {
					if pid > 0 {
						s.Process = numbered(pid)
					}
				}

				if err := files.Change(s, place); err != nil {
					t.Fatal(err)
				}
			}

			one, all := e.Session()
			if one.String() != c.want || len(all) != c.all || !one.IsZero() && !slices.Contains(all, one) {
				t.Errorf("%s of %v, want %s of %d", one, all, c.want, c.all)
			}

			inside := c.all > 0 || env["GEMINI_CLI"] != ""
			if err := e.CheckSession(); e.InSession() != inside || err != nil {
				t.Errorf("in a session: %t, want %t; %v", e.InSession(), inside, err)
			}
		})
	}
}

// TestWhose: a hold is of the session that claimed it; who may act under it besides depends on what
// is known of that session.
func TestWhose(t *testing.T) {
	at := func(host agenthost.Host, id string) agenthost.Beat {
		return agenthost.Beat{Session: agenthost.Session{Host: host, ID: id}}
	}
	ended := at("codex", "working")
	ended.Ended = time.Unix(1, 0)
	for name, c := range map[string]struct {
		beat   agenthost.Beat
		env    string
		above  ancestors
		server bool
		// the program does not look at processes
		unlooked bool
		want     setup.Whose
	}{
		"of nobody":                         {beat: agenthost.Beat{}, env: "CODEX_SESSION_ID=x", want: setup.Own},
		"of the one that asks":              {beat: at("codex", "working"), env: "CODEX_SESSION_ID=working", want: setup.Own},
		"of one that has ended":             {beat: ended, env: "CODEX_SESSION_ID=x", want: setup.Left},
		"of one that sent no event":         {beat: at("codex", "silent"), want: setup.Own},
		"of one that sent none, to another": {beat: at("codex", "silent"), env: "CODEX_SESSION_ID=x", want: setup.Others},
		"of the host that does not say which": {
			beat: at(agenthost.Gemini, "silent"),
			env:  "GEMINI_CLI=1",
			want: setup.Either,
		},
		"of another host than that": {beat: at("codex", "silent"), env: "GEMINI_CLI=1", want: setup.Others},
		"of one at work":            {beat: at("codex", "working"), want: setup.Others},
		"of one without a process":  {beat: at("codex", "unplaced"), want: setup.Others},
		"of one that was killed":    {beat: at("codex", "killed"), want: setup.Left},
		"of one that was killed, and processes are not looked at": {
			beat: at("codex", "killed"), unlooked: true,
			want: setup.Others,
		},
		"of one that cannot be read": {beat: at("codex", "damaged"), want: setup.Others},
		"to the server of its host":  {beat: at("codex", "working"), above: ancestors{5, 7}, server: true, want: setup.Own},
		"to another server":          {beat: at("codex", "working"), above: ancestors{5}, server: true, want: setup.Others},
		"to the server of a killed one": {
			beat: at("codex", "killed"), above: ancestors{5}, server: true,
			want: setup.Left,
		},
		"of one beside it in its process": {beat: at("codex", "working"), env: "CODEX_SESSION_ID=beside", above: ancestors{5, 7}, want: setup.Others},
		"of a host that does not say which, from another's session": {
			beat: at(agenthost.Gemini, "silent"), env: "GEMINI_CLI=1 CODEX_SESSION_ID=x",
			want: setup.Others,
		},
		"without a state folder": {beat: at("codex", "silent"), env: "LABEL_STATE_HOME=", want: setup.Others},
	} {
		env := map[string]string{"LABEL_STATE_HOME": t.TempDir()}
		files := state.OpenSessions(env["LABEL_STATE_HOME"])
		for id, pid := range map[string]int{"working": 7, "beside": 7, "killed": 99, "unplaced": 0} {
			if err := files.Change(agenthost.Session{Host: agenthost.Codex, ID: id}, func(s *state.Session) {
				if pid > 0 {
					s.Process = numbered(pid)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}

		damaged, err := filepath.Glob(filepath.Join(env["LABEL_STATE_HOME"], "*", "codex@working.json"))
		succeeds(t, err, os.WriteFile(strings.Replace(damaged[0], "working", "damaged", 1), []byte("{"), 0o600))

		maps.Copy(env, assignments(c.env))
		e := setup.Environment{
			Getenv:    func(name string) string { return env[name] },
			Processes: c.above,
			Server:    c.server,
		}
		if c.unlooked {
			e.Processes = nil
		}
		if got := e.Whose(state.Hold{Beat: c.beat}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestCheckSession: a variable that names no session is refused, and the error says which hosts
// there are.
func TestCheckSession(t *testing.T) {
	for text, want := range map[string]bool{"": true, " ": true, "codex:1": true, "codex": false, "nobody:1": false} {
		err := newMachine(t, map[string]string{agenthost.SessionVariable: text}).environment().CheckSession()
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), string(agenthost.Codex)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestHostName: the host is known where one session is, or a host that names none.
func TestHostName(t *testing.T) {
	for _, c := range []struct {
		variables map[string]string
		want      string
	}{
		{nil, ""},
		{map[string]string{"CODEX_SESSION_ID": "x"}, "codex"},
		{map[string]string{"GEMINI_CLI": "1"}, string(agenthost.Gemini)},
	} {
		if got := newMachine(t, c.variables).environment().HostName(); got != c.want {
			t.Errorf("%v: %q, want %q", c.variables, got, c.want)
		}
	}
}
