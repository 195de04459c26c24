package githubsim

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An issue as #7, owner/repo#7 or its address.
var mentionPattern = regexp.MustCompile(`(?:^|[^\w/#.-])(?:https?://[^/\s]+/([\w.-]+)/([\w.-]+)/(?:issues|pull)/|(?:([\w.-]+)/([\w.-]+))?#)(\d{1,9})\b`)

// mentions reports whether the description of a thread of the repository in names the target,
// outside of code and HTML comments.
func mentions(in *repository, body string, target *thread) bool {
	number := strconv.Itoa(target.number)
	if !strings.Contains(body, "#"+number) && !strings.Contains(body, "/"+number) {
		return false
	}

	body = codeSpan.ReplaceAllString(withoutFences(htmlComment.ReplaceAllString(body, " ")), " ` ")
	for _, m := range mentionPattern.FindAllStringSubmatch(body, -1) {
		name := m[1] + m[3] + "/" + m[2] + m[4]
		if name == "/" {
			name = in.fullName()
		}

		if m[5] == number && strings.EqualFold(name, target.repo.fullName()) {
			return true
		}
	}

	return false
}

// crossReferences are the lines of a timeline for the threads, of any repository that the actor
// sees, whose descriptions name the target now. (GitHub's stay when the text goes.)
func (c *call) crossReferences(target *thread) []line {
	var out []line
	for _, r := range c.distinct() {
		if c.who.role(r) < roleRead {
			continue
		}

		for _, s := range r.seenIn(c.view) {
			if s.thread != target && mentions(r, s.now.body, target) {
				out = append(out, line{s.now.created, c.crossReference(s)})
			}
		}
	}

	return out
}

// A line of a timeline.
type line struct {
	at   time.Time
	text object
}

func (c *call) crossReference(s seen) object {
	from := c.issueJSON(c.view, s.thread, s.now)
	from["repository"] = c.repoJSON(s.thread.repo)
	return object{
		"event": "cross-referenced", "actor": c.accountJSON(s.now.author), "created_at": timestamp(s.now.created),
		"updated_at": timestamp(s.now.created), "source": object{"type": "issue", "issue": from},
	}
}
