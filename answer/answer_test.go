package answer

import (
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestMeanings: every code has one row, with an exit status that is not yes, a word and a text.
func TestMeanings(t *testing.T) {
	seen := map[Code]bool{}
	for _, m := range Meanings() {
		if seen[m.Code] {
			t.Errorf("%s has two rows", m.Code)
		}
		seen[m.Code] = true
		if m.Exit <= ExitYes || m.Exit > ExitNoWork || m.Word == "" || m.Text == "" || len(m.Next) == 0 ||
			strings.HasSuffix(m.Text, ".") {
			t.Errorf("%s: %+v", m.Code, m)
		}

		if got := m.Code.Meaning(); !reflect.DeepEqual(got, m) {
			t.Errorf("Meaning of %s is %+v", m.Code, got)
		}
	}

	if m := Code("new").Meaning(); m.Code != "new" || m.Exit != ExitUnknown || m.Word != "unknown" {
		t.Errorf("a code of a later version: %+v", m)
	}
}

// TestWordOfExit: the exit status and the word in JSON never say different things.
func TestWordOfExit(t *testing.T) {
	words := map[int][]Word{
		ExitNo:      {"held", "lost", "no"},
		ExitWrong:   {"refused"},
		ExitUnknown: {"unknown"},
		ExitNoWork:  {"none"},
	}

	for _, m := range Meanings() {
		fits := false
		for _, w := range words[m.Exit] {
			fits = fits || w == m.Word
		}

		if !fits {
			t.Errorf("%s exits with %d and says %q", m.Code, m.Exit, m.Word)
		}
	}
}

func TestProblem(t *testing.T) {
	for want, p := range map[string]*Problem{
		"claim acme/app#7: held by rex": {
			Code:   Held,
			Doing:  "claim",
			Object: "acme/app#7",
			Why:    "held by rex",
		},
		"acme/app#7: there is no token":         {Code: NoToken, Object: "acme/app#7"},
		"claim acme/app#8: file does not exist": {Doing: "claim", Object: "acme/app#8", Cause: fs.ErrNotExist},
		"the plan is empty":                     {Code: Usage, Why: "the plan is empty"},
		"renew: no issue is free now":           {Code: NoWork, Doing: "renew"},
		"release o/r#1: the hold has ended": {
			Code:   Lost,
			Doing:  "release",
			Object: "o/r#1",
			Why:    "the hold has ended",
		},
	} {
		if got := p.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestIs: a caller asks for a code, or for the cause, through any number of wraps.
func TestIs(t *testing.T) {
	err := errors.Join(errors.New("x"), &Problem{Code: Lost, Why: "it ended", Cause: fs.ErrNotExist})
	if !errors.Is(err, &Problem{Code: Lost}) || errors.Is(err, &Problem{Code: Held}) ||
		!errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not what it is", err)
	}

	for _, other := range []*Problem{
		{Code: Lost, Why: "another"},
		{Code: Lost, Reasons: []Reason{}},
		{Code: Lost, Next: []Command{}},
		{Code: Lost, Cause: fs.ErrNotExist},
	} {
		if errors.Is(err, other) {
			t.Errorf("%+v is another", other)
		}
	}
}

func TestJSON(t *testing.T) {
	at := time.Date(2026, 5, 4, 9, 0, 2, 0, time.UTC)
	for want, a := range map[string]Answer{
		`{"issue":"acme/app#2","answer":"won","codename":"lucius","since":"2026-05-04T09:00:02Z","token":2}`: {
			Issue:    "acme/app#2",
			Answer:   Won,
			Codename: "lucius",
			Since:    at,
			Token:    2,
		},
		`{"issue":"acme/app#1","answer":"held","code":"held","reasons":[{"code":"closed","text":"it is closed"}],"error":"it is closed","next":[{"verb":"status","args":["acme/app#1"]}]}`: (&Problem{
			Code:    Held,
			Doing:   "claim",
			Object:  "acme/app#1",
			Why:     "it is closed",
			Reasons: []Reason{{Code: "closed", Text: "it is closed"}},
			Next:    []Command{{Verb: "status", Args: []string{"acme/app#1"}}},
			Cause:   fs.ErrExist,
		}).Answer("acme/app#1"),
	} {
		got, err := json.Marshal(a)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
	}

	if got := (Answer{Answer: Won}).Exit(); got != ExitYes {
		t.Errorf("won exits with %d", got)
	}

	if got := (&Problem{Code: Held}).Answer("").Exit(); got != ExitNo {
		t.Errorf("held exits with %d", got)
	}
}
