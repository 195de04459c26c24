package github

import (
	"fmt"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestPullToMerge: up to a hundred commits come with the pull request itself, each further hundred
// costs one request, and what is not read is counted.
func TestPullToMerge(t *testing.T) {
	for _, c := range []struct{ commits, read, unread, requests int }{
		{0, 0, 0, 1}, {1, 1, 0, 1}, {100, 100, 0, 1}, {101, 101, 0, 2}, {250, 250, 0, 3}, {1000, mergeCommits, 700, 3},
	} {
		server := simulated(t)
		open := githubsim.Pull{
			Title: "Work",
			Head:  "many",
			Body:  "Closes #1",
			Files: map[string]string{"conf.yml": "a: 1\n"},
		}

		for n := range c.commits {
			open.Commits = append(open.Commits, fmt.Sprintf("Commit %d", n))
		}
		number, err := server.OpenPull("acme/app", "bot", open)
		if err != nil {
			t.Fatal(err)
		}

		head, err := connect(t, server.Transport()).ReadPull(t.Context(), issue("app", number))
		if err != nil {
			t.Fatal(err)
		}

		sent := watched(server.Transport())

		p, m, err := connect(t, sent).PullToMerge(t.Context(), repoOf("app"), number, FileAt{head.SHA, "conf.yml"})

		switch {
		case err != nil:
			t.Fatal(err)
		case p.Number != number || m.Title != "Work" || m.Body != "Closes #1" || !m.Methods.Commit || m.Methods.Squash:
			t.Errorf("%d commits: %+v", c.commits, m.Methods)
		case len(m.Commits) != c.read || m.Unread != c.unread || len(sent.sent) != c.requests:
			t.Errorf("%d commits: %d read and %d not, %d requests; want %+v", c.commits, len(m.Commits), m.Unread,
				len(sent.sent), c)
		case c.read > 0 && m.Commits[c.read-1] != fmt.Sprintf("Commit %d", c.read-1):
			t.Errorf("%d commits: the last is %q", c.commits, m.Commits[c.read-1])
		case m.File == nil || *m.File != "a: 1\n":
			t.Errorf("%d commits: file %v", c.commits, m.File)
		}

		cut := spoiled(server.Transport(), `"isTruncated":false`, `"isTruncated":true`)
		_, m, err = connect(t, cut).PullToMerge(t.Context(), repoOf("app"), number, FileAt{head.SHA, "conf.yml"})
		if err != nil || m.File != nil {
			t.Errorf("a file that is cut short: %v, %v", m.File, err)
		}
	}
}

// TestChanges: a file is found on whatever page of the changed ones.
func TestChanges(t *testing.T) {
	server := simulated(t)
	files := map[string]string{"z.yml": "x"}
	for n := range 100 {
		files[fmt.Sprint("f", n)] = "x"
	}
	number, err := server.OpenPull("acme/app", "bot", githubsim.Pull{Title: "Work", Head: "many", Files: files})
	if err != nil {
		t.Fatal(err)
	}

	c := connect(t, server.Transport())
	for path, want := range map[string]bool{"f7": true, "z.yml": true, "F7": false} {
		if got, err := c.Changes(t.Context(), issue("app", number), path); err != nil || got != want {
			t.Errorf("%s: %t, %v", path, got, err)
		}
	}
}
