package labelstate_test

import (
	"errors"
	"testing"

	labelstate "github.com/label-state/label-state"
	"github.com/label-state/label-state/internal/githubsim"
)

// TestClaimUnheard: a login that may not label wins nothing, and what it wrote stands in nobody's way.
func TestClaimUnheard(t *testing.T) {
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "bot", Token: "tok", Permissions: map[string]string{"acme/app": "write"}},
			{Login: "mallory", Token: "tok-mallory", Permissions: map[string]string{"acme/app": "read"}},
		},
		Repos: []githubsim.SeedRepo{{Name: "acme/app", Issues: []githubsim.SeedIssue{{Number: 1, Title: "Work", Author: "bot", Labels: []string{labelstate.LabelImplement}}}}},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mallory, err := labelstate.Open(t.Context(), labelstate.Options{
		Repo: "acme/app", Token: "tok-mallory", API: "https://api.github.com", HTTP: server.Transport(), Config: "testdata/label-state.yml",
	})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := mallory.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "fox"}); err == nil || errors.Is(err, labelstate.ErrHeld) {
		t.Errorf("claim: %+v, %v", h, err)
	}
	bot := open(server)
	if err := bot.Check(t.Context(), 1); err != nil {
		t.Errorf("check: %v", err)
	}
	if _, err := bot.Claim(t.Context(), 1, labelstate.ClaimOptions{Codename: "lucius"}); err != nil {
		t.Errorf("claim of another: %v", err)
	}
}
