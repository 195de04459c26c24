package github

import (
	"testing"

	"github.com/label-state/label-state/internal/claim"
)

// TestReaderTrusts is the hook of somebody who may only read, and so may not ask for roles: the
// author's association decides, and a stranger's claim still counts for nothing.
func TestReaderTrusts(t *testing.T) {
	server := simulated(t)
	client := connect(t, server.Transport(), as("tok-rob"))
	f, err := client.Facts(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 2})
	if err != nil {
		t.Fatal(err)
	}
	if h, held := f.Log.Holder(); !held || h.Record.Worker.Codename != "lucius" {
		t.Errorf("holder %v %v, want lucius", h.Record.Worker, held)
	}
	if _, counts := f.Log.Find(claim.Worker{Codename: "mallory", FiringID: "f-mallory"}); counts {
		t.Error("a stranger's claim counts")
	}
}

// TestBelongs: who once had a change merged may not label, and so counts no more than a stranger.
func TestBelongs(t *testing.T) {
	for association, want := range map[string]bool{
		"MEMBER": true, "COLLABORATOR": true, "CONTRIBUTOR": false, "FIRST_TIME_CONTRIBUTOR": false, "FIRST_TIMER": false, "MANNEQUIN": false, "NONE": false, "": false,
	} {
		if got := belongs(association); got != want {
			t.Errorf("%s: %t", association, got)
		}
	}
}
