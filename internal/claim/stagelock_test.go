package claim_test

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
)

func TestFromStageLock(t *testing.T) {
	for body, want := range map[string]string{
		"<!-- claim run=7f3a9c1e ttl=600s -->":                "claim codename=stage-lock firing_id=7f3a9c1e ttl=600",
		"\ufeff<!-- claim run=a.b:c-1 ttl=10m -->\nworking":   "claim codename=stage-lock firing_id=a.b:c-1 ttl=600",
		"<!-- claim run=7f3a9c1e -->":                         "claim codename=stage-lock firing_id=7f3a9c1e",
		"<!-- claim run=7f3a9c1e ttl=forever -->":             "talk",
		"<!-- claim run= ttl=600s -->":                        "talk",
		"<!-- claim run=a b ttl=600s -->":                     "talk",
		"<!-- claim run=7f3a9c1e ttl=600s":                    "talk",
		"> <!-- claim run=7f3a9c1e ttl=600s -->":              "talk",
		"<!-- claim run=" + strings.Repeat("x", 200) + " -->": "talk",
	} {
		if got := decoded(claim.Decode(claim.FromStageLock(body))); got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
	if own := "<!-- agent-claim:codename=a firing_id=b nonce=1234 -->"; claim.FromStageLock(own) != own {
		t.Error("an own record was changed")
	}
}
