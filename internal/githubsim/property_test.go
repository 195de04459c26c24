package githubsim_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestPastIsKept: after any history, hiding the newest n changes shows exactly what was there
// before them.
func TestPastIsKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newServer(t)
		seen := func() string {
			issue := send(t, s, "tok-wes", "GET /repos/acme/app/issues/2", "")
			return issue.text + send(t, s, "tok-wes", "GET "+comments, "").text +
				send(t, s, "tok-wes", "GET /repos/acme/app/issues/2/events", "").text
		}

		past := []string{seen()}
		for range rapid.IntRange(1, 12).Draw(rt, "changes") {
			must(t, change(s, rapid.SampledFrom([]string{"comment", "edit", "delete", "label", "state"}).Draw(rt,
				"change")))
			past = append(past, seen())
		}

		hide := rapid.IntRange(0, len(past)-1).Draw(rt, "hidden")
		s.Fault = func(*http.Request) *githubsim.Fault { return &githubsim.Fault{StalePrefix: hide} }
		if got, want := seen(), past[len(past)-1-hide]; got != want {
			rt.Fatalf("with the newest %d hidden:\n got %s\nwant %s", hide, got, want)
		}
	})
}

// change makes one change to issue 2; what is not possible becomes a comment.
func change(s *githubsim.Server, what string) error {
	list, err := s.Comments("acme/app", 2)
	if err != nil {
		return err
	}

	issue, err := s.Issue("acme/app", 2)
	if err != nil {
		return err
	}

	text := fmt.Sprintf("%s %d", what, len(s.Requests()))
	switch {
	case what == "edit" && len(list) > 0:
		return s.EditComment("acme/app", list[0].ID, "wes", text)
	case what == "delete" && len(list) > 0:
		return s.DeleteComment("acme/app", list[len(list)-1].ID, "wes")
	case what == "label" && slices.Contains(issue.Labels, "ready"):
		return s.RemoveLabel("acme/app", 2, "wes", "ready")
	case what == "label":
		return s.AddLabels("acme/app", 2, "wes", "ready")
	case what == "state" && issue.State == "open":
		return s.Close("acme/app", 2, "wes")
	case what == "state":
		return s.Reopen("acme/app", 2, "wes")
	}

	_, err = s.AddComment("acme/app", 2, "wes", text)
	return err
}

// TestPagesAreTheList: pages of any size, by REST and by GraphQL, put together are the whole list.
func TestPagesAreTheList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newServer(t)
		count := rapid.IntRange(0, 40).Draw(rt, "comments")
		for i := range count {
			_, err := s.AddComment("acme/app", 2, "wes", fmt.Sprint(i))
			must(t, err)
		}

		size := rapid.IntRange(1, 45).Draw(rt, "size")
		var rest, graph []string
		for page := 1; page <= count/size+1; page++ {
			for _, o := range send(t, s, "tok-wes", fmt.Sprintf("GET %s?per_page=%d&page=%d", comments, size, page),
				"").list(t) {
				rest = append(rest, fmt.Sprint(o["body"]))
			}
		}

		for cursor, more := "", true; more; {
			data := query(t, s, "tok-wes",
				fmt.Sprintf(`{%s{issue(number:2){comments(first:%d%s){nodes{body} pageInfo{hasNextPage endCursor}}}}}`,
					app, size, cursor))
			nodes, _ := field(data, "data.repository.issue.comments.nodes").([]any)
			for _, n := range nodes {
				graph = append(graph, fmt.Sprint(n.(map[string]any)["body"]))
			}

			more = field(data, "data.repository.issue.comments.pageInfo.hasNextPage") == true
			cursor = fmt.Sprintf(",after:%q", field(data, "data.repository.issue.comments.pageInfo.endCursor"))
		}

		var want []string
		for i := range count {
			want = append(want, fmt.Sprint(i))
		}

		if !slices.Equal(rest, want) || !slices.Equal(graph, want) {
			rt.Fatalf("%d comments by %d:\nREST %v\nGraphQL %v", count, size, rest, graph)
		}
	})
}

func FuzzParseFault(f *testing.F) {
	for _, text := range []string{
		"delay=80ms", "lose=POST:/comments:1", "status=502:GET::%3 reset",
		"stale=1s;truncate=9", "=:::", "late=5s:*",
	} {
		f.Add(text)
	}

	f.Fuzz(func(t *testing.T, text string) {
		fault, err := githubsim.ParseFault(text)
		if (fault == nil) == (err == nil) {
			t.Fatalf("%q: neither rules nor an error, or both: %v", text, err)
		}

		if fault == nil {
			return
		}
		req, err := http.NewRequest("POST", "http://h/comments", nil)
		must(t, err)
		if got := fault(req); got != nil && reflect.ValueOf(*got).IsZero() {
			t.Fatalf("%q: a fault that does nothing", text)
		}
	})
}
