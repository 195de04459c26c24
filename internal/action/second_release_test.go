package action_test

import (
	"testing"
	"testing/synctest"
)

// TestReleaseInTheSecondOfTheLabel: a person's /release that is carried out in the second in which
// the label of their hold was put on takes the label off: by the times alone it could as well be a
// new one.
func TestReleaseInTheSecondOfTheLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.issue("Work", "agent:implement")
		for _, said := range []string{"/claim", "/release"} {
			_, err := w.server.AddComment(app, 1, "tia", said)
			w.must(err)
			w.said(w.deliver(tokActions, w.last("issue_comment", "created", said)), 0)
		}

		w.said(w.sweep(), 0)
		if got := w.labels(1); got != "agent:implement" {
			t.Errorf("labels %q", got)
		}
	})
}
