package action

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
)

// unseen is put between two characters that must not stand side by side. It shows nothing.
const unseen = "\u200b"

// plain makes other people's text fit for one line of a workflow log: besides what no line may
// hold, it has nothing that the runner would take for a command ("::cmd" at the start of a line,
// "##[cmd]" anywhere).
func plain(s string) string {
	s = strings.ReplaceAll(printable.Line(s), "##[", "##"+unseen+"[")
	if rest := strings.TrimLeft(s, " "); strings.HasPrefix(rest, "::") {
		s = s[:len(s)-len(rest)] + ":" + unseen + rest[1:]
	}
	return s
}

const cellLimit = 300 // characters of one piece of text in Markdown

var (
	listMark = regexp.MustCompile(`^ *(?:[-+=]|\d+[.)])`)
	wwwMark  = regexp.MustCompile(`(?i)www\.`)
	ghMark   = regexp.MustCompile(`(?i)gh-(\d)`)
)

// markdown makes text stand for itself in a line, a list item or a table cell: nothing in it can
// be markup, a mention, a reference, a link, HTML, or the end of the cell.
func markdown(s string) string {
	s = plain(printable.Short(s, cellLimit))
	s = wwwMark.ReplaceAllStringFunc(s, func(w string) string { return w[:3] + unseen + w[3:] })
	s = ghMark.ReplaceAllStringFunc(s, func(w string) string { return w[:2] + unseen + w[2:] })
	start := len(listMark.FindString(s))
	var b strings.Builder
	for at, r := range s {
		switch {
		case r == '@' || r == '#':
			b.WriteRune(r)
			b.WriteString(unseen)
		case strings.ContainsRune("\\`*_{}[]()<>!|~&$:", r), at < start && strings.ContainsRune("-+=.)", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}

	return b.String()
}

// link is a Markdown link whose target comes from GitHub's answer; anything but a plain web
// address becomes text.
func link(text, url string) string {
	if !address(url) {
		return markdown(text)
	}
	return "[" + markdown(text) + "](" + url + ")"
}

var webAddress = regexp.MustCompile(`^https?://[A-Za-z0-9.:-]+(?:/[A-Za-z0-9._~%/?=&#-]*)?$`)

func address(url string) bool { return len(url) < 1000 && webAddress.MatchString(url) }

var issueName = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+#\d+$`)

// issueLink names an issue and leads to it. Its name is left as it is when it can only be one.
func issueLink(i claim.Issue, url string) string {
	if !issueName.MatchString(i.String()) || !address(url) {
		return link(i.String(), url)
	}
	return "[" + i.String() + "](" + url + ")"
}
