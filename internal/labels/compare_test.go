package labels_test

import (
	"testing"

	"github.com/label-state/label-state/internal/labels"
)

func TestAmong(t *testing.T) {
	have := []labels.Definition{{Name: "Agent:Implement", Color: "0E8A16"}, {Name: "agent:done", Color: "ffffff"}}
	for _, c := range []struct {
		name, differs string
		found         bool
	}{{"agent:implement", "", true}, {"agent:done", "colour ffffff, ours is 0e8a16", true}, {"agent:in-flight", "", false}} {
		differs, found := labels.Definition{Name: c.name, Color: "0e8a16"}.Among(have)
		if differs != c.differs || found != c.found {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, differs, found, c.differs, c.found)
		}
	}
}
