package githubsim

import (
	"regexp"
	"strconv"
	"strings"
)

// A reference names an issue; owner and name are empty where the text left them out.
type reference struct {
	owner, name string
	number      int
}

// The nine keywords with an optional colon, then the issue as #7, owner/repo#7 or its address.
var closingPattern = regexp.MustCompile(`(?i)(?:^|[^0-9a-z_])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+` +
	`(?:https?://[^/\s]+/([\w.-]+)/([\w.-]+)/issues/|(?:([\w.-]+)/([\w.-]+))?#)(\d{1,9})\b`)

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|\z)`)
	codeSpan    = regexp.MustCompile("(?s)``.+?``|`[^`]+`")
)

// closingReferences returns what a pull request's description closes, each issue once, in the
// text's order. Code and HTML comments are not part of what a reader sees and do not count.
func closingReferences(body string) []reference {
	body = htmlComment.ReplaceAllString(body, " ")
	body = withoutFences(body)
	return rawReferences(codeSpan.ReplaceAllString(body, " ` "))
}

// rawReferences returns what a commit message closes: there the text is taken as it stands.
func rawReferences(text string) []reference {
	var found []reference
	seen := map[reference]bool{}
	for _, m := range closingPattern.FindAllStringSubmatch(text, -1) {
		number, err := strconv.Atoi(m[5])
		if err != nil || number == 0 {
			continue
		}

		r := reference{owner: m[1] + m[3], name: m[2] + m[4], number: number}
		if !seen[r] {
			seen[r] = true
			found = append(found, r)
		}
	}

	return found
}

// withoutFences drops fenced and indented code blocks.
func withoutFences(body string) string {
	var kept []string
	fence, blank := "", true
	for line := range strings.Lines(body) {
		mark := fenceMark(line)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(strings.Trim(line, " \t\r\n"+fence[:1])) == "" {
				fence = ""
			}
		case mark != "":
			fence = mark
		case blank && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")):
			continue
		default:
			kept = append(kept, line)
		}

		blank = strings.TrimSpace(line) == ""
	}

	return strings.Join(kept, "")
}

// fenceMark returns the run of three or more backticks or tildes that a line starts with.
func fenceMark(line string) string {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return ""
	}

	for _, mark := range []string{"`", "~"} {
		run := len(text) - len(strings.TrimLeft(text, mark))
		if run >= 3 {
			return text[:run]
		}
	}

	return ""
}

// closes lists the threads that a pull request closes when it is merged: none unless it targets the
// default branch.
func (st *store) closes(t *thread, now issue) []*thread {
	if now.pull == nil || now.pull.base != t.repo.base {
		return nil
	}
	return st.resolve(t.repo, now.pull.closes)
}

// resolve finds the issues, not pull requests, that references written in a repository name.
func (st *store) resolve(r *repository, refs []reference) []*thread {
	var found []*thread
	for _, ref := range refs {
		in := r
		if ref.owner != "" {
			in = st.repos[strings.ToLower(ref.owner+"/"+ref.name)]
		}

		if in == nil {
			continue
		}
		target := in.threads[ref.number]
		if target == nil || target.deleted || target.movedTo != nil || target.state.now().pull != nil {
			continue
		}

		found = append(found, target)
	}

	return found
}
