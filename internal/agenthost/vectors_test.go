package agenthost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/golden"
)

// now is the time of every vector.
// now is noon in UTC, on a machine of another zone.
var now = time.Date(2026, 11, 22, 14, 0, 0, 0, time.FixedZone("", 2*60*60))

// A vector is one event in one world. In testdata/events/HOST.txt its lines are
//
//	# title
//	in HOST {"session_id":"s1",...}             the argument, and standard input
//	hold acme/app#42 mine age=5m                a record of the event's worktree: mine, other's, earlier (of the same host) or nobody's; age since the last
//	                                            renewal of 30m, ttl=never, lost=WHY, refused=WHY, ended, passed, gone, beside, tried=10s, away (another worktree)
//	wants claim                                 sessions.require_claim; "wants known" is a repository that uses label-state,
//	                                            "wants usable" one whose configuration says why it cannot be used
//	got renewed | lost WHY | nothing            what the plan's question found; nothing is renewed
//	event, plan, out                            what comes of it, rewritten with -update
type vector struct {
	given  []string
	name   agenthost.Host
	text   string
	world  agenthost.World
	result string
}

func TestEventVectors(t *testing.T) {
	for _, h := range append(agenthost.Hosts(), agenthost.Plugin) {
		t.Run(string(h), func(t *testing.T) {
			file := filepath.Join("testdata", "events", string(h)+".txt")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}

			var out []string
			for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
				v := parse(t, block)
				out = append(out, strings.Join(append(v.given, v.play()...), "\n"))
			}

			golden.Check(t, file, strings.Join(out, "\n\n")+"\n")
		})
	}
}

func parse(t *testing.T, block string) vector {
	t.Helper()
	v := vector{world: agenthost.World{Now: now}}
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "event", "plan", "out":
			continue
		case "#":
		case "in":
			name, text, _ := strings.Cut(rest, " ")
			v.name, v.text = agenthost.Host(name), text
		case "hold":
			v.hold(t, strings.Fields(rest))
		case "wants":
			v.world.Claim, v.world.Known = v.world.Claim || rest == "claim", v.world.Known || rest == "known"
			if rest == "usable" {
				v.world.Unusable = "line 3: planets: unknown key"
			}
		case "got":
			v.result = rest
		default:
			t.Fatalf("%q", line)
		}

		v.given = append(v.given, line)
	}

	return v
}

func (v *vector) hold(t *testing.T, words []string) {
	t.Helper()
	var number int
	if _, err := fmt.Sscanf(words[0], "acme/app#%d", &number); err != nil {
		t.Fatal(err)
	}

	e, _ := agenthost.Read(v.name, []byte(v.text))
	h := agenthost.Hold{
		Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: number},
		Worker: claim.Worker{Codename: "fox", FiringID: "f1"},
		TTL:    30 * time.Minute,
		Beat:   agenthost.Beat{Renewed: now},
	}
	away := false
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		d, _ := time.ParseDuration(value)
		switch key {
		case "mine":
			h.Session = e.Session
		case "other's":
			h.Session = agenthost.Session{Host: agenthost.Codex, ID: "other"}
		case "earlier":
			h.Session = agenthost.Session{Host: e.Session.Host, ID: "earlier"}
		case "nobody's":
		case "age":
			h.Renewed = now.Add(-d)
		case "tried":
			h.Tried = now.Add(-d)
		case "ttl":
			h.TTL = claim.NoExpiry
		case "lost":
			h.Lost = strings.ReplaceAll(value, "_", " ")
		case "passed":
			h.Ended, h.Passed = now.Add(-time.Second), true
		case "gone":
			h.Gone = true
		case "beside":
			h.Beside = true
		case "refused":
			h.Refused = strings.ReplaceAll(value, "_", " ")
		case "ended":
			h.Ended = now.Add(-time.Hour)
		case "away":
			away = true
		default:
			t.Fatalf("%q", word)
		}
	}

	if !h.Session.IsZero() && h.Session == e.Session {
		v.world.Mine = append(v.world.Mine, h)
	}

	if !away {
		v.world.Here = append(v.world.Here, h)
	}
}

// play is what comes of the vector.
func (v vector) play() []string {
	e, err := agenthost.Read(v.name, []byte(v.text))
	if err != nil {
		return []string{"event " + err.Error()}
	}

	words := []string{"event", string(e.Host), string(e.Kind)}
	if e.Session.ID != "" {
		words = append(words, "session="+e.Session.ID)
	}

	if e.Parent != "" {
		words = append(words, "parent="+e.Parent)
	}

	if e.Tool != "" || e.Call != agenthost.Reads {
		words = append(words, "call="+string(e.Call))
	}

	if e.Dir != "" {
		words = append(words, "dir="+e.Dir)
	}

	for _, p := range e.Paths {
		words = append(words, "path="+p)
	}

	for _, p := range e.Dirs {
		words = append(words, "in="+p)
	}
	p := agenthost.Decide(e, v.world)
	w := v.after(p)
	a := agenthost.Answer{Deny: agenthost.Denies(e, w)}
	if e.Kind == agenthost.SessionStart {
		shown := make([]agenthost.Shown, 0, len(w.Here))
		for _, h := range w.Here {
			shown = append(shown, agenthost.Shown{Hold: h})
		}
		a.Context = agenthost.StartText(e, w, shown, "../app-2")
	}

	for _, h := range w.Mine {
		if strings.HasPrefix(v.result, "lost") && h.Lost != "" {
			a.Context = agenthost.Over(h.Issue, h.Lost)
		}
	}

	return []string{strings.Join(words, " "), planned(p), strings.TrimRight("out "+a.Text(e), " \n")}
}

// after is the world when the plan's question was answered.
func (v vector) after(p agenthost.Plan) agenthost.World {
	w := v.world
	asked := append(append([]claim.Issue{}, p.Renew...), p.Verify...)
	for _, list := range []*[]agenthost.Hold{&w.Mine, &w.Here} {
		*list = append([]agenthost.Hold{}, *list...)
		for n := range *list {
			h := &(*list)[n]
			for _, i := range asked {
				if !h.Issue.Same(i) {
					continue
				}

				switch why, lost := strings.CutPrefix(v.result, "lost "); {
				case lost:
					h.Lost = why
				case v.result != "nothing":
					h.Renewed, h.Good = now, true
				}
			}
		}
	}

	return w
}

func planned(p agenthost.Plan) string {
	out := "plan"
	for _, part := range []struct {
		name   string
		issues []claim.Issue
	}{
		{"adopt", p.Adopt},
		{"renew", p.Renew},
		{"verify", p.Verify},
		{"show", p.Show},
		{"end", p.End},
		{"pass", p.Pass},
	} {
		for _, i := range part.issues {
			out += " " + part.name + " " + i.String()
		}
	}

	return out
}
