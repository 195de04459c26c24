package closing

import (
	"iter"
	"strings"

	"github.com/label-state/label-state/internal/claim"
)

// A scanner reads targets. Home is the repository of #7 and host that of URLs.
type scanner struct {
	home claim.Repo
	host string
}

// scan returns the issues that texts close, each once and Limit at most, and whether there are
// more. It looks at every byte once: words are disjoint, so are the blanks after keywords, and a
// target is read no further than the longest one reaches.
func (s scanner) scan(texts ...string) (found []claim.Issue, more bool) {
	seen := map[claim.Issue]bool{}
	for _, text := range texts {
		for from := range targets(text) {
			issue, ok := s.target(text[from:])
			switch {
			case !ok || seen[issue.Folded()]:
			case len(found) == Limit:
				return found, true
			default:
				seen[issue.Folded()] = true
				found = append(found, issue)
			}
		}
	}

	return found, false
}

// targets calls yield with where the target of each keyword must begin: behind a colon, blanks, or
// both.
func targets(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; at < len(text); {
			if !isWord(text[at]) {
				at++
				continue
			}

			end := at + 1
			for end < len(text) && isWord(text[end]) {
				end++
			}

			var lower [len("resolved")]byte
			for i := range min(end-at, len(lower)) {
				lower[i] = text[at+i] | 0x20 // no digit and no underscore becomes a letter by this
			}

			switch string(lower[:min(end-at, len(lower))]) {
			case "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved":
				target := end
				if target < len(text) && text[target] == ':' {
					target++
				}

				for target < len(text) && (text[target] == ' ' || text[target] == '\t') {
					target++
				}

				if end-at <= len(lower) && target > end && !yield(target) {
					return
				}
			}

			at = end
		}
	}
}

// target reads the issue that text begins with.
func (s scanner) target(text string) (claim.Issue, bool) {
	repo, rest, ok := s.address(text)
	if !ok || repo == (claim.Repo{}) {
		return claim.Issue{}, false
	}

	if strings.EqualFold(repo.Owner, s.home.Owner) && strings.EqualFold(repo.Name, s.home.Name) {
		repo = s.home
	}
	digits := 0
	for digits < len(rest) && digits <= maxDigits && isDigit(rest[digits]) {
		digits++
	}

	if digits < len(rest) && isWord(rest[digits]) {
		return claim.Issue{}, false
	}
	number, ok := ParseNumber(rest[:digits])

	return repo.Issue(number), ok
}

// address reads all of a target that comes before its number: #, OWNER/NAME#, GH- or a URL.
func (s scanner) address(text string) (claim.Repo, string, bool) {
	if rest, ok := strings.CutPrefix(text, "#"); ok {
		return s.home, rest, true
	}
	if repo, rest, ok := cutSlug(text, '#'); ok {
		return repo, rest, true
	}
	if rest, ok := cutPrefixFold(text, "GH-"); ok {
		return s.home, rest, true
	}

	rest, ok := cutScheme(text)
	if !ok || s.host == "" {
		return claim.Repo{}, "", false
	}
	if rest, ok = cutPrefixFold(rest, s.host+"/"); !ok {
		return claim.Repo{}, "", false
	}

	repo, rest, ok := cutSlug(rest, '/')
	if !ok {
		return claim.Repo{}, "", false
	}

	number, ok := strings.CutPrefix(rest, "issues/")
	if !ok {
		number, ok = strings.CutPrefix(rest, "pull/")
	}

	return repo, number, ok
}

// cutScheme goes past the scheme of a URL of the web.
func cutScheme(text string) (string, bool) {
	if rest, ok := cutPrefixFold(text, "https://"); ok {
		return rest, true
	}
	return cutPrefixFold(text, "http://")
}

// cutSlug reads "owner/repo" and the byte that ends it.
func cutSlug(text string, end byte) (claim.Repo, string, bool) {
	owner, rest, ok := cutByte(text, '/', maxOwner)
	if !ok {
		return claim.Repo{}, "", false
	}

	name, rest, ok := cutByte(rest, end, maxRepo)
	repo := claim.Repo{Owner: owner, Name: name}
	return repo, rest, ok && ValidRepo(repo)
}

// cutByte is [strings.Cut] for a separator that comes after at most limit bytes.
func cutByte(text string, sep byte, limit int) (before, after string, found bool) {
	at := strings.IndexByte(text[:min(len(text), limit+1)], sep)
	if at < 0 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

// cutPrefixFold is [strings.CutPrefix] without regard to case.
func cutPrefixFold(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return "", false
	}
	return text[len(prefix):], true
}
