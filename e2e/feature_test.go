//go:build e2e && unix

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFeature plays one feature in three repositories from its claim to its merge, with real
// processes and real git: once undisturbed, and once with every command killed again and again,
// before and after its requests are applied, and begun anew. Both end the same: nothing was claimed
// twice, no pull request opened twice.
func TestFeature(t *testing.T) {
	bin := programs(t)
	clean := newFeature(t, bin, false).play()
	deadly := newFeature(t, bin, true)
	if end := deadly.play(); clean != end {
		t.Errorf("with kills it ended in\n%s\nwithout in\n%s", end, clean)
	}

	if deadly.kills < 50 {
		t.Errorf("only %d kills", deadly.kills)
	}
}

func (f *feature) play() string {
	f.Helper()
	words := map[string]string{"lib": "Closes #1", "app": "For #1", "web": "Closes #1, for acme/app#1"}
	f.clone("agents", "clones")
	f.claim()
	trees := f.plant()
	f.refused()

	for _, name := range places {
		tree := trees[name]
		f.write(filepath.Join(tree.Path, "retry.txt"), name+"\n")
		f.do(f.by("agents", tree.Path, "git", "add", "."))
		f.do(f.by("agents", tree.Path, "git", "commit", "-q", "-m", "Retry in "+name+"\n\n"+words[name]))
	}

	for _, name := range places {
		if out := f.do(f.by("agents", trees[name].Path, "git", "push", "-q", "origin",
			trees[name].Branch)); strings.Contains(out, "label-state") {
			f.Errorf("the hook has something to say about the holder's push: %s", out)
		}
	}

	f.chain(trees)
	f.opened()
	f.merged()
	f.do(f.by("agents", f.dir, "label-state", "worktree", "remove", "retry"))

	return f.end()
}

// clone gives somebody a clone of every repository with the hook in it.
func (f *feature) clone(login, folder string) {
	f.Helper()
	for _, name := range places {
		dir := filepath.Join(f.dir, folder, name)
		f.quietly(f.by(login, f.dir, "git", "clone", "-q", f.url+"/acme/"+name+".git", dir))
		f.quietly(f.by(login, dir, "label-state", "hook", "install", "--hook", filepath.Join(f.bin, "pre-push")))
	}
}

func (f *feature) claim() {
	f.Helper()
	d := f.by("agents", filepath.Join(f.dir, "clones", "app"),
		"label-state", "bundle", "claim", "retry", "acme/app#1", "acme/lib#1", "acme/web#1", "--codename", "lucius")
	d.over = "holds acme/.* already"
	f.do(d)

	for _, name := range places {
		f.shows(name, inFlight)
		if live := f.log(name).Live(); len(live) != 1 {
			f.Fatalf("acme/%s#1 is held %d times", name, len(live))
		}
	}
}

// A tree is a worktree of the feature.
type tree struct{ Repo, Path, Branch string }

// plant makes the worktrees and returns them by repository.
func (f *feature) plant() map[string]tree {
	f.Helper()
	d := f.by("agents", f.dir, "label-state", "worktree", "create", "--feature", "retry", "--agent", "lucius",
		"--offline")
	for _, name := range places {
		d.args = append(d.args, "--repo", name+"="+filepath.Join(f.dir, "clones", name))
	}

	d.repair, d.over = []string{
		"label-state", "worktree",
		"prune",
	}, "remove them first: label-state worktree remove retry"
	f.do(d)
	var found struct{ Trees []tree }
	f.must(json.Unmarshal([]byte(f.do(f.by("agents", f.dir, "label-state", "worktree", "list", "--json"))), &found))
	trees := map[string]tree{}
	for _, one := range found.Trees {
		trees[one.Repo] = one
	}

	if len(trees) != len(places) {
		f.Fatalf("worktrees: %+v", found)
	}

	return trees
}

// refused is a person who finishes what the agent holds.
func (f *feature) refused() {
	f.Helper()
	f.clone("olga", "olga")
	dir := filepath.Join(f.dir, "olga", "lib")
	f.do(f.by("olga", dir, "git", "commit", "-q", "--allow-empty", "-m", "Mine\n\nCloses #1"))
	d := f.by("olga", dir, "git", "push", "-q", "origin", "HEAD:refs/heads/mine")
	d.code = 1
	if out := f.do(d); !strings.Contains(out, "lucius") {
		f.Errorf("the refusal does not name the holder: %s", out)
	}
}

// chain opens the pull requests and waits for their checks.
func (f *feature) chain(trees map[string]tree) {
	f.Helper()
	type part struct {
		Repo   string `json:"repo"`
		Branch string `json:"branch"`
		Title  string `json:"title"`
		Body   string `json:"body,omitempty"`
	}

	plan := struct {
		Feature string `json:"feature"`
		Parent  string `json:"parent"`
		Closes  int    `json:"closes"`
		Parts   []part `json:"parts"`
	}{Feature: "retry", Parent: "acme/app#1", Closes: 3}

	for _, name := range places {
		one := part{Repo: "acme/" + name, Branch: trees[name].Branch, Title: "Retry in " + name}
		if name != "app" {
			one.Body = "Closes #1\n"
		}
		plan.Parts = append(plan.Parts, one)
	}

	text, err := json.Marshal(plan)
	f.must(err)
	f.do(f.by("agents", f.dir, "label-state", "chain", "execute", "--file", f.write("plan.json", string(text))))

	for _, name := range places {
		f.must(f.server.SetStatus("acme/"+name, 2, "olga", "build", "success"))
	}
	f.do(f.by("agents", f.dir, "label-state", "chain", "wait", "--feature", "retry", "--timeout", "1m"))
}

// opened is the Action at the pull requests, of which app's closes nothing itself.
func (f *feature) opened() {
	f.Helper()
	for _, name := range places {
		f.act(name, "pull_request", "edited")
		f.shows(name, prOpen)
		if _, held := f.log(name).Holder(); held {
			f.Errorf("acme/%s#1 is still held", name)
		}
	}
}

// merged is a person who merges in order, and the Action at what that causes. The parent is done
// with the last.
func (f *feature) merged() {
	f.Helper()
	for _, name := range places {
		f.must(f.server.MergePull("acme/"+name, 2, "olga"))
		f.act(name, "pull_request", "closed")
		switch name {
		case "lib":
			f.act("lib", "issues", "closed")
			f.shows("lib", done)
			f.shows("app", prOpen)
		case "app":
			f.shows("app", prOpen)
		case "web":
			f.act("web", "issues", "closed")
			f.act("app", "issues", "closed")
		}
	}

	for _, name := range places {
		f.act(name, "schedule", "")
		f.shows(name, done)
	}
}

var moving = regexp.MustCompile(`\d{8}-?\d{6}`)

// end is everything that is left: issues, pull requests, branches, and who delivered what.
func (f *feature) end() string {
	f.Helper()
	var b strings.Builder
	for _, name := range places {
		for n := 1; ; n++ {
			i, err := f.server.Issue("acme/"+name, n)
			if err != nil {
				break
			}

			slices.Sort(i.Labels)
			fmt.Fprintf(&b, "%s#%d %s %q %s merged=%v %q\n%s\n", name, n, i.State, i.Labels, i.Author, i.Merged,
				i.Title, i.Body)
		}

		delivered := 0
		for _, c := range f.log(name).Claims {
			if c.End != nil && c.End.PR != "" {
				delivered++
			}
		}

		fmt.Fprintf(&b, "%s: delivered %d times\n", name, delivered)
		dir, err := f.server.GitDir("acme/" + name)
		f.must(err)
		b.WriteString(f.quietly(f.by("olga", dir, "git", "for-each-ref", "--format=%(refname) %(tree)", "refs/heads")))
		b.WriteString(f.quietly(f.by("olga", dir, "git", "ls-tree", "-r", "main")))
	}

	return moving.ReplaceAllString(b.String(), "TIME")
}
