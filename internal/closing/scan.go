package closing

import (
	"iter"
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

type scanner struct {
	text    string
	home    Repo
	host    string
	line    int // of text[counted]
	counted int
	seen    map[claim.Issue]bool
	found   []Reference
	more    bool // than Limit
}

// scan looks at every byte once: words are disjoint, so are the blanks after keywords, and a target
// is read no further than the longest one reaches.
func (s *scanner) scan() {
	for from, end := range keywords(s.text) {
		if s.more {
			return
		}
		s.mention(from, end)
	}
}

// keywords calls yield with where each keyword begins and ends.
func keywords(text string) iter.Seq2[int, int] {
	return func(yield func(from, end int) bool) {
		for at := 0; at < len(text); {
			if !isWord(text[at]) {
				at++
				continue
			}
			end := at + 1
			for end < len(text) && isWord(text[end]) {
				end++
			}
			if isKeyword(text[at:end]) && !yield(at, end) {
				return
			}
			at = end
		}
	}
}

func (s *scanner) mention(keyword, end int) {
	from, ok := skipGap(s.text, end)
	if !ok {
		return
	}
	issue, length, ok := s.target(s.text[from:])
	if !ok || s.known(issue) {
		return
	}
	if s.more = len(s.found) >= Limit; s.more {
		return
	}
	s.line += strings.Count(s.text[s.counted:keyword], "\n")
	s.counted = keyword
	s.found = append(s.found, Reference{
		Issue: issue, Keyword: s.text[keyword:end], Offset: keyword, End: from + length, Line: s.line,
	})
}

// known also remembers issue.
func (s *scanner) known(issue claim.Issue) bool {
	issue = issue.Folded()
	if s.seen[issue] {
		return true
	}
	if s.seen == nil {
		s.seen = map[claim.Issue]bool{}
	}
	s.seen[issue] = true
	return false
}

// target reads the issue that text begins with, and how many bytes name it.
func (s *scanner) target(text string) (claim.Issue, int, bool) {
	repo, rest, ok := s.repo(text)
	if !ok || repo == (Repo{}) {
		return claim.Issue{}, 0, false
	}
	if repo.is(s.home) {
		repo = s.home
	}
	number, digits, ok := cutNumber(rest)
	issue := claim.Issue{Owner: repo.Owner, Repo: repo.Name, Number: number}
	return issue, len(text) - len(rest) + digits, ok
}

// repo reads all of a target that comes before its number.
func (s *scanner) repo(text string) (Repo, string, bool) {
	if rest, ok := strings.CutPrefix(text, "#"); ok {
		return s.home, rest, true
	}
	if repo, rest, ok := cutSlug(text, '#'); ok {
		return repo, rest, true
	}
	if rest, ok := cutPrefixFold(text, "GH-"); ok {
		return s.home, rest, true
	}
	return s.cutURL(text)
}

func (s *scanner) cutURL(text string) (Repo, string, bool) {
	rest, ok := cutPrefixFold(text, "https://")
	if !ok {
		rest, ok = cutPrefixFold(text, "http://")
	}
	if !ok || s.host == "" {
		return Repo{}, "", false
	}
	if rest, ok = cutPrefixFold(rest, s.host+"/"); !ok {
		return Repo{}, "", false
	}
	repo, rest, ok := cutSlug(rest, '/')
	if !ok {
		return Repo{}, "", false
	}
	number, ok := strings.CutPrefix(rest, "issues/")
	if !ok {
		number, ok = strings.CutPrefix(rest, "pull/")
	}
	return repo, number, ok
}

// cutSlug reads "owner/repo" and the byte that ends it.
func cutSlug(text string, end byte) (Repo, string, bool) {
	owner, rest, ok := cutByte(text, '/', maxOwner)
	if !ok || !ValidOwner(owner) {
		return Repo{}, "", false
	}
	name, rest, ok := cutByte(rest, end, maxRepo)
	if !ok || !ValidRepo(name) {
		return Repo{}, "", false
	}
	return Repo{Owner: owner, Name: name}, rest, true
}

// cutByte is [strings.Cut] for a separator that comes after at most limit bytes.
func cutByte(text string, sep byte, limit int) (before, after string, found bool) {
	at := strings.IndexByte(text[:min(len(text), limit+1)], sep)
	if at < 0 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

func cutPrefixFold(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return "", false
	}
	return text[len(prefix):], true
}

func cutNumber(text string) (number, length int, ok bool) {
	for length < len(text) && length <= maxDigits && isDigit(text[length]) {
		length++
	}
	if length < len(text) && isWord(text[length]) {
		return 0, 0, false
	}
	number, ok = ParseNumber(text[:length])
	return number, length, ok
}

// skipGap goes from the end of a keyword to where its target must begin.
func skipGap(text string, keyword int) (target int, ok bool) {
	at := keyword
	if at < len(text) && text[at] == ':' {
		at++
	}
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at, at > keyword
}

func isKeyword(word string) bool {
	var lower [len("resolved")]byte
	if len(word) > len(lower) {
		return false
	}
	for i := range len(word) {
		lower[i] = word[i] | 0x20 // no digit and no underscore becomes a letter by this
	}
	switch string(lower[:len(word)]) {
	case "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved":
		return true
	}
	return false
}
