package setup_test

import (
	"iter"
	"slices"
	"testing"

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

func (a ancestors) Gone(process.ID) bool { return false }

func numbered(pid int) process.ID { return process.ID{PID: pid, Start: "1", Place: "here"} }

// TestNearestSession: of the sessions around a program the one whose host's process is nearest is
// the one that it runs in; the environment decides where that leaves it open.
func TestNearestSession(t *testing.T) {
	known := map[agenthost.Session]int{ // and the process of its host
		{Host: agenthost.ClaudeCode, ID: "outer"}: 10,
		{Host: agenthost.Codex, ID: "inner"}:      20,
		{Host: agenthost.OpenCode, ID: "one"}:     30,
		{Host: agenthost.OpenCode, ID: "two"}:     30,
		{Host: agenthost.Cursor, ID: "editor"}:    40,
		{Host: agenthost.Gemini, ID: "unplaced"}:  0,
	}

	for name, c := range map[string]struct {
		above ancestors
		env   map[string]string
		want  string
		all   int // sessions that are around the program
	}{
		"none":                 {nil, nil, ":", 0},
		"by its process alone": {ancestors{19, 10, 1}, nil, "claude-code:outer", 1},
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
		"two in one process, unnamed": {ancestors{30, 10}, nil, ":", 0},
		"two in one process, named": {
			ancestors{30, 10},
			map[string]string{"LABEL_STATE_SESSION": "opencode:two"},
			"opencode:two", 1,
		},
		"a terminal of an editor": {ancestors{40}, nil, ":", 0},
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
		})
	}
}
