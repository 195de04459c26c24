package claim

import "testing"

// TestSignature: nobody's name stands alone for what somebody else wrote.
func TestSignature(t *testing.T) {
	for _, c := range []struct{ author, by, want string }{
		{"tria", "olga", "tria, in the name of olga"},
		{"Olga", "olga", "olga"},
		{"github-actions[bot]", "olga", "olga"},
		{"tria", "drake:f2", "drake:f2"},
		{"tria", "sweep-20260501-234500", "sweep-20260501-234500"},
		{"tria", "", ""},
		{"", "olga", "olga"},
	} {
		if got := Signature(c.author, c.by); got != c.want {
			t.Errorf("%s by %s: %q, want %q", c.author, c.by, got, c.want)
		}
	}
}
