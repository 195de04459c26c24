package process

import "testing"

// TestRebooted: only of a machine with an id is it known that it was started again.
func TestRebooted(t *testing.T) {
	const now = "machine/boot/pid:[1]"
	for was, want := range map[string]bool{
		"machine/earlier/pid:[1]": true,
		"machine/boot/pid:[2]":    false,
		"other/earlier/pid:[1]":   false,
		"another":                 false,
	} {
		if rebooted(was, now) != want || rebooted("-/earlier/pid:[1]", "-/boot/pid:[1]") {
			t.Errorf("%s, and now %s: want %t", was, now, want)
		}
	}
}
