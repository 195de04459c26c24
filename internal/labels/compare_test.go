package labels_test

import (
	"testing"

	"github.com/label-state/label-state/internal/labels"
)

func TestAmong(t *testing.T) {
	have := []labels.Definition{{Name: "Agent:Implement", Color: "0E8A16"}, {Name: "agent:done", Color: "ffffff"}}
	for _, c := range []struct {
		name, color string
		found       bool
	}{{"agent:implement", "", true}, {"agent:done", "ffffff", true}, {"agent:in-flight", "", false}} {
		color, found := labels.Definition{Name: c.name, Color: "0e8a16"}.Among(have)
		if color != c.color || found != c.found {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, color, found, c.color, c.found)
		}
	}
}
