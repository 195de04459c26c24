package gitref_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
)

// The designs that the search rejected (guarantees.md#the-search), each on the embedded GitHub with
// real references, and each with its shortest way to two holders. The same story then runs on the
// chain. If one of them stopped failing, the simulator would have stopped being honest.

// A story is one issue at the embedded GitHub.
type story struct {
	t      *testing.T
	server *githubsim.Server
	api    *github.Client
	store  *gitref.Store
	issue  claim.Issue
}

func newStory(t *testing.T) *story {
	s := simulated(t)
	api := client(t, s, "tok-bot", 0)
	return &story{
		t, s, api, gitref.New(api, gitref.Options{Sleep: hurry}),
		claim.Issue{Owner: "acme", Repo: "app", Number: 7},
	}
}

const hold = 30 * time.Minute

// expire lets every lease that nobody renews run out.
func (s *story) expire() { s.server.Skip(hold + gitref.DefaultGrace) }

func (s *story) commit(parent, message string) string {
	s.t.Helper()
	c, err := s.api.CreateCommit(s.t.Context(), s.issue, parent, message)
	if err != nil {
		s.t.Fatal(err)
	}
	return c.OID
}

// create makes a reference, and reports whether it was not there before.
func (s *story) create(name, oid string) bool {
	s.t.Helper()
	err := s.swap(gitref.Swap{Name: name, After: oid})
	if err != nil && !errors.Is(err, gitref.ErrMoved) {
		s.t.Fatal(err)
	}
	return err == nil
}

// swap moves a reference.
func (s *story) swap(one gitref.Swap) error {
	s.t.Helper()
	at, err := s.api.GetRef(s.t.Context(), s.issue, one.Name)
	if err != nil {
		s.t.Fatal(err)
	}

	one.RepoID = at.RepoID
	return s.api.SwapRefs(s.t.Context(), s.issue, one)
}

// remove is REST's DELETE: it asks nothing about what is there.
func (s *story) remove(name string) {
	s.t.Helper()
	if _, err := s.api.Do(s.t.Context(), http.MethodDelete, "repos/acme/app/git/"+name, nil, nil); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) tip(name string) string {
	s.t.Helper()
	got, err := s.api.GetRef(s.t.Context(), s.issue, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return got.OID
}

func (s *story) claim(name string) (lease.Lease, error) {
	return s.store.Acquire(s.t.Context(),
		lease.Ask{Issue: s.issue, Worker: claim.Worker{Codename: name, FiringID: "1"}, TTL: hold})
}

func (s *story) mustClaim(name string) lease.Lease {
	s.t.Helper()
	l, err := s.claim(name)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return l
}

func (s *story) mustLose(name string) {
	s.t.Helper()
	if _, err := s.claim(name); !errors.As(err, new(*lease.HeldError)) {
		s.t.Fatalf("%s: %v, want to be refused", name, err)
	}
}

const lock = "refs/label-state/lock/7"

// TestD1: a lock that is created and deleted. The delete of who comes back late hits the successor.
func TestD1(t *testing.T) {
	s := newStory(t)
	ann, bob, cyd := s.commit("", "ann"), s.commit("", "bob"), s.commit("", "cyd")
	if !s.create(lock, ann) {
		t.Fatal("ann: no lock")
	}

	s.remove(lock) // bob finds it overdue
	if !s.create(lock, bob) {
		t.Fatal("bob: no lock")
	}

	s.remove(lock) // ann is done
	if !s.create(lock, cyd) {
		t.Error("a lock by DELETE has become safe: bob's lock outlived ann's release")
	}

	s = newStory(t)
	l := s.mustClaim("ann")
	s.expire()
	s.mustClaim("bob")
	if err := s.store.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}

	s.mustLose("cyd")
}

// TestD2: the answer to the DELETE is lost, and it is repeated.
func TestD2(t *testing.T) {
	s := newStory(t)
	s.create(lock, s.commit("", "ann"))
	s.remove(lock) // carried out, and ann does not hear of it
	if !s.create(lock, s.commit("", "bob")) {
		t.Fatal("bob: no lock")
	}

	s.remove(lock) // ann asks again
	if !s.create(lock, s.commit("", "cyd")) {
		t.Error("a lock by DELETE has become safe against repetition")
	}

	s = newStory(t)
	l := s.mustClaim("ann")
	for _, name := range []string{"", "bob"} {
		if name != "" {
			s.mustClaim(name)
		}
		if err := s.store.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}

	s.mustLose("cyd")
}

// TestD3: two thieves of one overdue lock.
func TestD3(t *testing.T) {
	s := newStory(t)
	s.create(lock, s.commit("", "ann"))
	bob, cyd := s.commit("", "bob"), s.commit("", "cyd")
	_, _ = s.tip(lock), s.tip(lock) // both find ann overdue
	s.remove(lock)
	won := s.create(lock, bob)
	s.remove(lock)
	if !won || !s.create(lock, cyd) {
		t.Error("a lock by DELETE has become safe against two thieves")
	}

	s = newStory(t)
	s.mustClaim("ann")
	s.expire()
	bobs, cyds := delayed(s), delayed(s) // both snapshots are made before either swap
	_, errBob := bobs.Acquire(t.Context(),
		lease.Ask{Issue: s.issue, Worker: claim.Worker{Codename: "bob", FiringID: "1"}, TTL: hold})
	_, errCyd := cyds.Acquire(t.Context(),
		lease.Ask{Issue: s.issue, Worker: claim.Worker{Codename: "cyd", FiringID: "1"}, TTL: hold})
	if errBob != nil || !errors.As(errCyd, new(*lease.HeldError)) {
		t.Errorf("bob: %v, cyd: %v; want bob to win and cyd to be told so", errBob, errCyd)
	}
}

// delayed is a store whose first snapshot was made now, however late it is asked.
func delayed(s *story) *gitref.Store {
	s.t.Helper()
	tip, err := s.api.GetRef(s.t.Context(), s.issue, gitref.RefName(s.issue))
	if err != nil {
		s.t.Fatal(err)
	}
	return gitref.New(&frozen{Refs: s.api, first: &tip}, gitref.Options{Sleep: hurry})
}

// frozen answers the first snapshot from the past.
type frozen struct {
	gitref.Refs
	first *gitref.Tip
}

func (f *frozen) GetRef(ctx context.Context, i claim.Issue, name string) (gitref.Tip, error) {
	if f.first == nil {
		return f.Refs.GetRef(ctx, i, name)
	}
	tip := *f.first
	f.first = nil
	return tip, nil
}

func epoch(n int) string { return fmt.Sprintf("refs/label-state/epoch/7/%d", n) }

func heartbeat(n int) string { return fmt.Sprintf("refs/label-state/heartbeat/7/%d", n) }

// TestE2: a reference for each epoch. Nothing keeps a holder whose lease has expired, and been
// taken, from renewing it.
func TestE2(t *testing.T) {
	s := newStory(t)
	first := s.commit("", "heartbeat 1")
	s.create(epoch(1), s.commit("", "ann"))
	s.create(heartbeat(1), first)
	if !s.create(epoch(2), s.commit("", "bob")) { // bob finds the heartbeat overdue
		t.Fatal("bob: no epoch")
	}

	renewal := gitref.Swap{Name: heartbeat(1), Before: first, After: s.commit(first, "heartbeat 2")}
	if err := s.swap(renewal); err != nil {
		t.Errorf("an epoch's heartbeat has become a fence: %v", err)
	}

	s = newStory(t)
	l := s.mustClaim("ann")
	s.expire()
	s.mustClaim("bob")
	if _, err := s.store.Renew(t.Context(), l); !errors.Is(err, lease.ErrLost) {
		t.Errorf("ann renews: %v, want that it is lost", err)
	}
}

// TestE3: a reference for each epoch, and a snapshot of the heartbeat from before the renewal.
func TestE3(t *testing.T) {
	s := newStory(t)
	first := s.commit("", "heartbeat 1")
	s.create(epoch(1), s.commit("", "ann"))
	s.create(heartbeat(1), first)
	seen := s.tip(heartbeat(1))
	renewal := gitref.Swap{Name: heartbeat(1), Before: first, After: s.commit(first, "heartbeat 2")}
	if err := s.swap(renewal); err != nil {
		t.Fatal(err)
	}

	if seen != first || !s.create(epoch(2), s.commit("", "bob")) { // the old heartbeat is overdue
		t.Error("a stale heartbeat has become harmless")
	}

	s = newStory(t)
	l := s.mustClaim("ann")
	s.expire()
	thief := delayed(s)
	l, err := s.store.Renew(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}

	_, err = thief.Acquire(t.Context(),
		lease.Ask{Issue: s.issue, Worker: claim.Worker{Codename: "bob", FiringID: "1"}, TTL: hold})
	if !errors.As(err, new(*lease.HeldError)) {
		t.Errorf("bob: %v, want to be refused", err)
	}

	if _, err := s.store.Renew(t.Context(), l); err != nil {
		t.Errorf("ann: %v", err)
	}
}

// TestC6: on the chain, too, a holder must count its own time. One that believes until it is told
// otherwise is wrong from the moment of the steal; one that counts has stopped before.
func TestC6(t *testing.T) {
	s := newStory(t)
	l := s.mustClaim("ann")
	elapsed := time.Duration(0)
	for stolen := false; !stolen && elapsed < 2*hold; elapsed += time.Minute {
		s.server.Skip(time.Minute)
		_, err := s.claim("bob")
		stolen = err == nil
	}

	got, held, err := s.store.Look(t.Context(), s.issue)
	if err != nil || !held || got.Worker == l.Worker {
		t.Fatalf("the chain says %+v, %t, %v, want bob: then whoever does not count believes something else", got,
			held, err)
	}

	if elapsed <= hold {
		t.Errorf("stolen after %s, when a holder that counts still believed", elapsed)
	}
}

const branch = "refs/heads/agent/issue-7"

// TestC7: looking at the lease and then pushing leaves a gap for a steal; one update of both
// references does not.
func TestC7(t *testing.T) {
	s := newStory(t)
	base := s.tip("refs/heads/main")
	s.mustClaim("ann")
	if got, held, err := s.store.Look(t.Context(), s.issue); err != nil || !held || got.Worker.Codename != "ann" {
		t.Fatal(got, held, err)
	}

	s.expire()
	s.mustClaim("bob")
	if !s.create(branch, s.commit(base, "ann's work")) {
		t.Error("looking first has become safe")
	}

	s = newStory(t)
	base = s.tip("refs/heads/main")
	l := s.mustClaim("ann")
	own := oid(l)
	s.expire()
	s.mustClaim("bob")
	tip, err := s.api.GetRef(t.Context(), s.issue, gitref.RefName(s.issue))
	if err != nil {
		t.Fatal(err)
	}

	both := []map[string]any{
		{"name": gitref.RefName(s.issue), "beforeOid": own, "afterOid": s.commit(own, "label-state: push")},
		{"name": branch, "beforeOid": strings.Repeat("0", 40), "afterOid": s.commit(base, "ann's work")},
	}

	err = s.api.Query(t.Context(), `mutation($repo: ID!, $refs: [RefUpdate!]!) {
  updateRefs(input: {repositoryId: $repo, refUpdates: $refs}) { clientMutationId }
}`, map[string]any{"repo": repositoryID(t, s.api), "refs": both}, &struct{}{})

	if err == nil || s.tip(branch) != "" {
		t.Errorf("push with a lost lease: %v, branch at %q, want neither reference moved", err, s.tip(branch))
	}

	if now := s.tip(gitref.RefName(s.issue)); now != tip.OID {
		t.Errorf("the chain is at %s, want %s", now, tip.OID)
	}
}

// oid is the commit that a lease was last known to be at.
func oid(l lease.Lease) string {
	first, _, _ := strings.Cut(l.Tip, "/")
	return first
}

func repositoryID(t *testing.T, c *github.Client) string {
	t.Helper()
	var data struct{ Repository struct{ ID string } }
	if err := c.Query(t.Context(), `query { repository(owner: "acme", name: "app") { id } }`, nil, &data); err != nil {
		t.Fatal(err)
	}
	return data.Repository.ID
}

// TestMayNotWrite: a token that cannot write contents is told so, at once and by type, and nothing
// else is tried in its place.
func TestMayNotWrite(t *testing.T) {
	s := newStory(t)
	weak := gitref.New(client(t, s.server, "tok-tia", 0), gitref.Options{Sleep: hurry})
	_, err := weak.Acquire(t.Context(),
		lease.Ask{Issue: s.issue, Worker: claim.Worker{Codename: "tia", FiringID: "1"}, TTL: hold})
	var denied *github.PermissionError
	if !errors.As(err, &denied) {
		t.Fatalf("acquire: %v, want that it is not permitted", err)
	}

	for _, r := range s.server.Requests() {
		if r.Writes() && r.Status < 400 || strings.Contains(r.Path, "/comments") {
			t.Errorf("%s %s answered %d", r.Method, r.Path, r.Status)
		}
	}

	l := s.mustClaim("ann")
	if got, held, err := weak.Look(t.Context(), s.issue); err != nil || !held || got.Token != l.Token {
		t.Errorf("look: %+v, %t, %v, want what it may read", got, held, err)
	}

	if err := weak.Release(t.Context(), l); !errors.As(err, &denied) {
		t.Errorf("release: %v, want that it is not permitted", err)
	}
	elsewhere := lease.Ask{Issue: claim.Issue{Owner: "acme", Repo: "none", Number: 1}, Worker: l.Worker, TTL: hold}
	var missing *github.NotFoundError
	if _, err := s.store.Acquire(t.Context(), elsewhere); !errors.As(err, &missing) {
		t.Errorf("acquire in no repository: %v, want that it is not there", err)
	}

	s.server.Fault = func(*http.Request) *githubsim.Fault {
		return &githubsim.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}
	}
	if _, _, err := weak.Look(t.Context(), s.issue); !errors.As(err, new(*lease.DeniedError)) {
		t.Errorf("look: %v, want what the token lacks", err)
	}
}
