package app

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/host"
)

// github is what others do there, or what happens to it.
func (s *trialWorld) github(args []string) error {
	switch args[0] {
	case "fault":
		return s.world.misbehave(strings.Join(args[1:], " "))
	case "rename":
		return s.world.RenameRepo(args[1], args[2])
	case "branch": // OWNER/REPO BRANCH
		return s.world.newBranch(args[1], "refs/heads/"+args[2])
	case "lease": // a reference where the lease of an issue would be, that is none
		i, err := host.ParseIssue(args[1], host.Defaults{})
		if err != nil {
			return err
		}
		return s.world.newBranch(i.Slug(), fmt.Sprintf("refs/label-state/lease/%d", i.Number))
	}

	i, err := host.ParseIssue(args[1], host.Defaults{})
	if err != nil {
		return err
	}

	return s.world.happen(args[0], i, args[2], args[3:])
}

// happen is something that a login does with an issue or a pull request.
func (w *world) happen(what string, i claim.Issue, login string, more []string) error {
	switch what {
	case "label":
		return w.AddLabels(i.Slug(), i.Number, login, more[0])
	case "assign":
		return w.Assign(i.Slug(), i.Number, login, more[0])
	case "close":
		return w.Close(i.Slug(), i.Number, login)
	case "comment":
		_, err := w.AddComment(i.Slug(), i.Number, login, strings.Join(more, " "))
		return err

	case "spam": // a comment that GitHub takes for spam
		id, err := w.AddComment(i.Slug(), i.Number, login, strings.Join(more, " "))
		if err == nil {
			err = w.MarkSpam(i.Slug(), id)
		}
		return err
	case "status": // CONTEXT STATE
		return w.SetStatus(i.Slug(), i.Number, login, more[0], more[1])
	case "merge":
		return w.MergePull(i.Slug(), i.Number, login)
	case "pull":
		return w.pull(i.Slug(), login, i.Number)
	}

	return fmt.Errorf("%q is nothing that happens", what)
}

// pull opens a pull request that closes the issue.
func (w *world) pull(repo, login string, number int) error {
	if err := w.newBranch(repo, "refs/heads/work"); err != nil {
		return err
	}
	_, err := w.OpenPull(repo, login,
		githubsim.Pull{Title: "Work", Head: "work", Body: fmt.Sprintf("Closes #%d", number)})
	return err
}

// newBranch makes a reference to a commit of its own.
func (w *world) newBranch(repo, ref string) error {
	dir, err := w.GitDir(repo)
	if err != nil {
		return err
	}

	out, err := exec.Command("git", "--git-dir="+dir, "-c", "user.name=x", "-c", "user.email=x@example.com",
		"commit-tree", "-p", "main", "-m", "Work", "main^{tree}").Output()
	if err != nil {
		return err
	}

	return exec.Command("git", "--git-dir="+dir, "update-ref", ref, strings.TrimSpace(string(out))).Run()
}

// disguises are what is in the way of GitHub, or goes wrong in it.
var disguises = map[string]githubsim.Fault{
	"html": {Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Sign in</html>"},
	"graphql": {
		Status: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: `{"errors":[{"message":"Something went wrong"}]}`,
	},
}

// misbehave has GitHub follow fault rules from now on.
func (w *world) misbehave(rules string) error {
	if answer, ok := disguises[rules]; ok {
		f := func(r *http.Request) *githubsim.Fault {
			if rules == "graphql" && !mutates(r) {
				return nil
			}
			return &answer
		}

		w.fault.Store(&f)
		return nil
	}

	f, err := githubsim.ParseFault(rules)
	w.fault.Store(&f)
	return err
}

// mutates reports whether a request is a GraphQL mutation.
func mutates(r *http.Request) bool {
	if !strings.HasSuffix(r.URL.Path, "/graphql") {
		return false
	}
	body, err := io.ReadAll(r.Body)
	return err == nil && strings.Contains(string(body), `"query":"mutation`)
}

// at does something as the n-th request of a method comes in whose path has part in it.
func (w *world) at(n, method, part string, do func()) {
	var seen atomic.Int64
	f := func(r *http.Request) *githubsim.Fault {
		if r.Method == method && strings.Contains(r.URL.Path, part) && strconv.FormatInt(seen.Add(1), 10) == n {
			do()
		}
		return nil
	}

	w.fault.Store(&f)
}
