package githubsim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

const zero = "0000000000000000000000000000000000000000"

// withGit is the seeded server with real git repositories.
func withGit(t *testing.T) *githubsim.Server {
	t.Helper()
	return serverWith(t, githubsim.Options{Dir: t.TempDir()})
}

// identity makes a commit of the empty tree, which nothing refers to, and returns its id.
func identity(t *testing.T, s *githubsim.Server, message string) string {
	t.Helper()
	got := send(t, s, "tok-wes", "POST /repos/acme/app/git/commits",
		fmt.Sprintf(`{"message":%q,"tree":"4b825dc642cb6eb9a060e54bf8d69288fbee4904"}`, message))
	if got.status != 201 {
		t.Fatalf("%d %s", got.status, got.text)
	}

	return got.json(t)["sha"].(string)
}

// objectWords are the commits of testdata/requests.txt, which it makes.
func objectWords(t *testing.T, s *githubsim.Server) *strings.Replacer {
	one, two := identity(t, s, "one"), identity(t, s, "two")
	child := send(t, s, "tok-wes", "POST /repos/acme/app/git/commits",
		fmt.Sprintf(`{"message":"child","tree":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","parents":[%q]}`,
			one)).json(t)["sha"].(string)
	return strings.NewReplacer("$one", one, "$two", two, "$child", child, "$start", two[:12],
		"$none", strings.Repeat("1", 40), "$nowhere", strings.Repeat("1", 12))
}

// TestRefRace: of twelve who create one reference at one moment, one wins.
func TestRefRace(t *testing.T) {
	s := withGit(t)
	shas := []string{identity(t, s, "a"), identity(t, s, "b"), identity(t, s, "c")}
	var wg sync.WaitGroup
	statuses := make([]int, 12)
	for i := range statuses {
		wg.Go(func() {
			got, err := try(s, "tok-wes", "POST /repos/acme/app/git/refs",
				fmt.Sprintf(`{"ref":"refs/x/one","sha":%q}`, shas[i%3]))
			if err == nil {
				statuses[i] = got.status
			}
		})
	}

	wg.Wait()
	won := 0
	for _, status := range statuses {
		switch status {
		case 201:
			won++
		case 422:
		default:
			t.Errorf("status %d", status)
		}
	}

	if won != 1 {
		t.Errorf("%d winners", won)
	}
}

// TestUpdateRefs: compare and swap over several references at once, all or none.
func TestUpdateRefs(t *testing.T) {
	s := withGit(t)
	one, two := identity(t, s, "one"), identity(t, s, "two")
	update := func(parts ...string) any {
		var list []string
		for i := 0; i < len(parts); i += 3 {
			list = append(list, fmt.Sprintf(`{name:"refs/x/%s",beforeOid:"%s",afterOid:"%s",force:true}`, parts[i],
				parts[i+1], parts[i+2]))
		}

		text := expand(t, s, `mutation{updateRefs(input:{repositoryId:"$repo",refUpdates:[`+strings.Join(list, ",")+
			`]}){clientMutationId}}`)
		return query(t, s, "tok-wes", text)["errors"]
	}

	there := func(name string) bool {
		return send(t, s, "tok-wes", "GET /repos/acme/app/git/ref/x/"+name, "").status == 200
	}

	if err := update("a", zero, one, "b", zero, one); err != nil || !there("a") || !there("b") {
		t.Fatalf("create two: %v", err)
	}

	if err := update("c", zero, one, "a", two, zero); err == nil || there("c") || !there("a") {
		t.Errorf("half wrong: %v", err)
	}

	if err := update("a", zero, two); err == nil {
		t.Error("created over an existing one")
	}

	if err := update("a", one, two, "b", one, zero); err != nil || !there("a") || there("b") {
		t.Errorf("move one, delete the other: %v", err)
	}
}

// git runs git in a folder with nothing of the machine's configuration.
func git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@x", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@x")
	out, err := cmd.CombinedOutput()

	return string(out), err
}

// TestPush: a clone, a push that is allowed, one that is not, and what the push to the default
// branch closes and merges.
func TestPush(t *testing.T) {
	s := withGit(t)
	base, stop, err := s.Listen("127.0.0.1:0")
	must(t, err)
	defer stop()
	remote := func(token string) string {
		return strings.Replace(base, "http://", "http://x:"+token+"@", 1) + "/acme/app.git"
	}

	work := filepath.Join(t.TempDir(), "work")
	run := func(args ...string) {
		t.Helper()
		if out, err := git(t, work, args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}

	if out, err := git(t, ".", "clone", "--quiet", base+"/acme/app.git", work); err != nil {
		t.Fatalf("anonymous clone: %v\n%s", err, out)
	}
	run("checkout", "--quiet", "-b", "topic")
	run("commit", "--quiet", "--allow-empty", "-m", "Work\n\ndoes not close #2")

	for _, token := range []string{"tok-rob", "tok-tia", "wrong"} {
		if out, err := git(t, work, "push", remote(token), "topic"); err == nil {
			t.Errorf("%s pushed: %s", token, out)
		}
	}

	run("push", "--quiet", remote("tok-wes"), "topic")
	if got := send(t, s, "tok-rob", "GET /repos/acme/app/branches/topic", ""); got.status != 200 ||
		!strings.Contains(got.text, "does not close #2") {
		t.Errorf("branch: %d %s", got.status, got.text)
	}

	opened := send(t, s, "tok-wes", "POST /repos/acme/app/pulls",
		`{"title":"t","head":"topic","base":"main","body":"fixes #1"}`)
	if opened.status != 201 {
		t.Fatal(opened.text)
	}

	if state(t, s, 2) != "open" {
		t.Error("a push to a topic branch closed the issue")
	}
	run("push", "--quiet", remote("tok-wes"), "topic:main")
	if state(t, s, 1) != "closed" || state(t, s, 2) != "closed" {
		t.Errorf("after the push to main: #1 %s, #2 %s", state(t, s, 1), state(t, s, 2))
	}

	if pull, err := s.Issue("acme/app", 5); err != nil || !pull.Merged {
		t.Errorf("pull request: %+v %v", pull, err)
	}

	if out, err := git(t, ".", "ls-remote", base+"/acme/secret.git"); err == nil {
		t.Errorf("a private repository answered: %s", out)
	}

	if got := lastPush(s); got.Login != "wes" || got.Status != 200 || !got.Writes() {
		t.Errorf("request log: %+v", got)
	}
}

// TestSynchronize: an open pull request follows its head, wherever the branch was moved from, and
// says so once.
func TestSynchronize(t *testing.T) {
	s := withGit(t)
	one := identity(t, s, "one")
	child := func(parent, message string) string {
		return send(t, s, "tok-wes", "POST /repos/acme/app/git/commits",
			fmt.Sprintf(`{"message":%q,"tree":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","parents":[%q]}`, message,
				parent)).json(t)["sha"].(string)
	}

	two := child(one, "two")
	send(t, s, "tok-wes", "POST /repos/acme/app/git/refs", `{"ref":"refs/heads/topic","sha":"`+one+`"}`)
	opened := send(t, s, "tok-wes", "POST /repos/acme/app/pulls", `{"title":"t","head":"topic","base":"main"}`)
	if opened.status != 201 {
		t.Fatal(opened.text)
	}

	number := int(opened.json(t)["number"].(float64))
	moved := func(before, after string) {
		t.Helper()
		events, err := s.Events()
		must(t, err)
		var p map[string]any
		must(t, json.Unmarshal(events[len(events)-1].Payload, &p))
		if p["action"] != "synchronize" || p["before"] != before || p["after"] != after ||
			field(p, "pull_request.head.sha") != after {
			t.Errorf("%d events, the last is %v from %v to %v, head %v", len(events), p["action"], p["before"],
				p["after"], field(p, "pull_request.head.sha"))
		}
	}

	send(t, s, "tok-wes", "PATCH /repos/acme/app/git/refs/heads/topic", `{"sha":"`+two+`"}`)
	moved(one, two)

	three := child(two, "three")
	repo := send(t, s, "tok-wes", "GET /repos/acme/app", "").json(t)["node_id"].(string)
	update, err := json.Marshal(map[string]string{"query": fmt.Sprintf(`mutation { updateRefs(input: {repositoryId: %q, refUpdates: [
		{name: "refs/heads/topic", beforeOid: %q, afterOid: %q, force: false}]}) { clientMutationId } }`, repo, two, three)})
	must(t, err)
	send(t, s, "tok-wes", "POST /graphql", string(update))
	moved(two, three)

	must(t, s.Close("acme/app", number, "wes"))
	before, err := s.Events()
	must(t, err)
	send(t, s, "tok-wes", "PATCH /repos/acme/app/git/refs/heads/topic", `{"sha":"`+one+`","force":true}`)
	if after, err := s.EventsSince(len(before)); err != nil || len(after) != 0 {
		t.Errorf("a closed pull request: %v %v", after, err)
	}
}

// TestSHA256: a repository with SHA-256, put in the place of the simulator's, takes pushes to its
// default branch and closes what they close; the API, whose empty tree is SHA-1's, refuses cleanly.
func TestSHA256(t *testing.T) {
	s := withGit(t)
	base, stop, err := s.Listen("127.0.0.1:0")
	must(t, err)
	defer stop()
	dir, err := s.GitDir("acme/app")
	must(t, err)
	must(t, os.RemoveAll(dir))

	for _, args := range [][]string{
		{"init", "-q", "--bare", "--object-format=sha256", "-b", "main", dir},
		{"-C", dir, "config", "http.receivepack", "true"},
	} {
		if out, err := git(t, ".", args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}

	work := filepath.Join(t.TempDir(), "work")
	remote := strings.Replace(base, "http://", "http://x:tok-wes@", 1) + "/acme/app.git"
	for _, args := range [][]string{
		{"init", "-q", "--object-format=sha256", "-b", "main", work},
		{"-C", work, "commit", "-q", "--allow-empty", "-m", "Begin"},
		{"-C", work, "push", "-q", remote, "main"},
		{"-C", work, "commit", "-q", "--allow-empty", "-m", "Work\n\nCloses #2"},
		{"-C", work, "push", "-q", remote, "main"},
	} {
		if out, err := git(t, ".", args...); err != nil || lastPush(s).Status >= 300 {
			t.Fatalf("git %v: %d %v\n%s", args, lastPush(s).Status, err, out)
		}
	}

	if state(t, s, 2) != "closed" {
		t.Error("the push to main did not close the issue")
	}
	long := strings.Repeat("1", 64)
	for _, body := range []string{
		`{"message":"m","tree":"4b825dc642cb6eb9a060e54bf8d69288fbee4904"}`, `{"message":"m","tree":"` + long + `"}`,
	} {
		if got := send(t, s, "tok-wes", "POST /repos/acme/app/git/commits", body); got.status != 422 {
			t.Errorf("%s: %d %s", body, got.status, got.text)
		}
	}

	if got := send(t, withGit(t), "tok-wes", "POST /repos/acme/app/git/refs", `{"ref":"refs/heads/x","sha":"`+long+
		`"}`); got.status != 422 {
		t.Errorf("an id of the other hash: %d %s", got.status, got.text)
	}
}

func state(t *testing.T, s *githubsim.Server, number int) string {
	t.Helper()
	i, err := s.Issue("acme/app", number)
	must(t, err)
	return i.State
}

func lastPush(s *githubsim.Server) (last githubsim.Request) {
	for _, r := range s.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/git-receive-pack") {
			last = r
		}
	}
	return last
}

// TestPullNeedsCommits: a branch that is not there, and one that has nothing new.
func TestPullNeedsCommits(t *testing.T) {
	s := withGit(t)
	main := field(send(t, s, "tok-wes", "GET /repos/acme/app/git/ref/heads/main", "").json(t), "object.sha")
	send(t, s, "tok-wes", "POST /repos/acme/app/git/refs", fmt.Sprintf(`{"ref":"refs/heads/same","sha":%q}`, main))

	for head, want := range map[string]string{"none": `"field":"head"`, "same": "No commits between main and same"} {
		got := send(t, s, "tok-wes", "POST /repos/acme/app/pulls",
			fmt.Sprintf(`{"title":"t","head":%q,"base":"main"}`, head))
		if got.status != 422 || !strings.Contains(got.text, want) {
			t.Errorf("%s: %d %s", head, got.status, got.text)
		}
	}
}

// TestMergeByGit: the merge button makes a merge commit that main has, and its files are served.
func TestMergeByGit(t *testing.T) {
	s := withGit(t)
	before := field(send(t, s, "tok-wes", "GET /repos/acme/app/git/ref/heads/main", "").json(t), "object.sha")
	merged := send(t, s, "tok-wes", "PUT /repos/acme/app/pulls/4/merge", "").json(t)
	after := field(send(t, s, "tok-wes", "GET /repos/acme/app/git/ref/heads/main", "").json(t), "object.sha")
	if before == after || merged["sha"] != after {
		t.Errorf("main went from %v to %v, the answer says %v", before, after, merged["sha"])
	}

	commit := send(t, s, "tok-wes", fmt.Sprintf("GET /repos/acme/app/git/commits/%v", after), "").json(t)
	if parents, _ := commit["parents"].([]any); len(parents) != 2 ||
		!strings.HasPrefix(commit["message"].(string), "Merge pull request #4") {
		t.Errorf("commit: %v", commit)
	}
}

// TestContents: a seeded file, through git and without it.
func TestContents(t *testing.T) {
	for name, dir := range map[string]string{"git": t.TempDir(), "no git": ""} {
		s, err := githubsim.New(githubsim.Seed{
			Repos: []githubsim.SeedRepo{{Name: "a/b", Files: map[string]string{".github/label-state.yml": "x: 1\n"}}},
		}, githubsim.Options{Dir: dir})
		must(t, err)
		path := "/repos/a/b/contents/.github/label-state.yml"
		if got := send(t, s, "", "GET "+path, "").json(t); got["content"] != "eDogMQo=" ||
			got["sha"] != "d508cf756344aaf9123c531122a9d2d410c4ecfa" || got["size"] != 5.0 {
			t.Errorf("%s: %v", name, got)
		}

		if got := send(t, s, "", "GET "+path, "", "Accept", "application/vnd.github.raw+json"); got.text != "x: 1\n" {
			t.Errorf("%s: raw %q", name, got.text)
		}

		if got := send(t, s, "", "GET /repos/a/b/contents/none", ""); got.status != 404 {
			t.Errorf("%s: missing file %d", name, got.status)
		}
	}
}
