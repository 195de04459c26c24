package protocol

import (
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// personsTerm is how long the hold of a person lasts that has a ttl, as the clause behind the name.
func personsTerm(f lifecycle.Facts, r claim.Record) string {
	return " holds this issue until " + printable.Minute(f.Now.Add(r.TTL)) +
		", and longer while they comment here or have a pull request " +
		"open that closes it. Comment `/release` to end the hold."
}

// unassignedText tells who is assigned that others may take the issue. A person is mentioned.
func unassignedText(n claim.Notice, off bool) string {
	login, _, _ := strings.Cut(n.Key, "@")
	who, then := "@"+harmless(login)+", you are", "Comment `/claim` if you still work on it."
	if claim.IsApp(login) {
		who, then = "**"+harmless(login)+"** is", "No pull request of it is open."
	}
	if off {
		then += " The assignment was removed."
	}

	return who + " assigned, without a sign of work on this issue. It is open to others again. " + then
}

// askedText asks the person whose hold the notice is about whether they still work on the issue.
// They are mentioned, because they are to hear of it.
func askedText(f lifecycle.Facts, t claim.Terms, n claim.Notice) string {
	for _, c := range f.Log.Live() {
		if c.Record.Worker.String() != n.Key {
			continue
		}
		who := "@" + harmless(c.Person)
		if end, ends := c.Until(t); ends {
			return who + ", this hold ends on " + printable.Minute(end) +
				". Comment here if you still work on this issue, or open a pull " +
				"request that closes it; or comment `/release`, so that somebody else can take it."
		}

		return who + ", do you still work on this issue? If not, comment `/release`, so that somebody else can take it."
	}

	return "The hold of this issue has ended."
}
