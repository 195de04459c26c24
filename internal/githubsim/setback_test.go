package githubsim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestClockSetBack: a younger comment may have an earlier time than an older one, and is listed
// after it all the same. What a read from the past sees, and when what is late is applied, is as
// long ago as the machine says.
func TestClockSetBack(t *testing.T) {
	s := newServer(t)
	comments := "/repos/acme/app/issues/2/comments"
	post := func(body string) (c struct {
		ID      int64
		Created time.Time `json:"created_at"`
	},
	) {
		got := send(t, s, "tok-wes", "POST "+comments, `{"body":"`+body+`"}`)
		must(t, json.Unmarshal([]byte(got.text), &c))
		return c
	}

	first := post("first")
	s.Skip(-time.Hour)
	second := post("second")
	if !first.Created.After(second.Created) || first.ID >= second.ID {
		t.Errorf("%d at %s, then %d at %s", first.ID, first.Created, second.ID, second.Created)
	}

	if list := send(t, s, "tok-wes", "GET "+comments, ""); strings.Index(list.text, "first") > strings.Index(list.text,
		"second") {
		t.Errorf("order: %s", list.text)
	}

	s.Fault = func(r *http.Request) *githubsim.Fault {
		if r.Method == http.MethodGet {
			return &githubsim.Fault{StaleFor: time.Minute}
		}
		return nil
	}

	s.Skip(2 * time.Minute)
	s.Skip(-2 * time.Minute)
	if past := send(t, s, "tok-wes", "GET "+comments, ""); !strings.Contains(past.text, "first") {
		t.Errorf("a minute ago: %s, want what was there before the clock was put forward and back", past.text)
	}
}
