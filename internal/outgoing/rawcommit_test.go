package outgoing

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseCommit(t *testing.T) {
	text := "tree " + oidA + "\nparent " + oidA + "\nparent " + oidB +
		"\nauthor x <y> 5 +0000\ncommitter a <b>> 1700000000 +0100\n" +
		"gpgsig x\n parent y\n\nfixes #1\n\nmore"
	c, parents, err := parseCommit(oidA, []byte(text))
	if err != nil || !slices.Equal(parents, []string{oidA, oidB}) || c.OID != oidA ||
		string(c.Message) != "fixes #1\n\nmore" || c.Cut {
		t.Errorf("%+v, %q, %v", c, parents, err)
	}

	c, _, err = parseCommit(oidA, []byte("tree "+oidA+"\n\n"+strings.Repeat("x", maxMessage+1)))
	if err != nil || len(c.Message) != maxMessage || !c.Cut {
		t.Errorf("%d bytes, cut %t, %v", len(c.Message), c.Cut, err)
	}

	for _, text := range []string{"parent x\n\n", "parent \n"} {
		if _, _, err := parseCommit(oidA, []byte(text)); !errors.Is(err, errDamaged) {
			t.Errorf("parseCommit(%q): %v", text, err)
		}
	}
}
