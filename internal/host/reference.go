package host

import (
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/answer"
)

// A reference is what a person typed, being read.
type reference struct {
	kind, text string
	forms      string // what would have been allowed
	Defaults
}

// refuse is the error for a reason. It quotes the reference, unless that might be a URL with a
// token.
func (r reference) refuse(reason string) *answer.Problem {
	const most = 60
	shown := strconv.Quote(r.text)
	switch {
	case strings.ContainsAny(r.text, ":@"):
		shown = "URL"
	case len(r.text) > most:
		shown = strconv.Quote(r.text[:most]) + "…"
	}

	next := answer.Advice("give owner/repo#7, the issue's URL, or inside a clone just 7")
	if r.kind == "repository" {
		next = answer.Call("give OWNER/NAME, as in", "doctor", "acme/app")
	}

	return &answer.Problem{
		Code: answer.Usage,
		Why:  "read " + r.kind + " " + shown + ": " + reason,
		Next: []answer.Command{next},
	}
}

// known refuses a host whose repositories this caller does not mean.
func (r reference) known(host string) error {
	hosts := r.Hosts
	if len(hosts) == 0 {
		hosts = []string{dotCom}
	}

	if slices.Contains(hosts, host) {
		return nil
	}

	return r.refuse("it is not on " + strings.Join(hosts, " or "))
}
