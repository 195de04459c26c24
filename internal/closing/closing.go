// Package closing says which issues a text closes: a commit message or a pull request description.
//
// A mention is one of nine keywords and one target:
//
//	close closes closed fix fixes fixed resolve resolves resolved
//	#7   GH-7   owner/repo#7   https://HOST/owner/repo/issues/7   https://HOST/owner/repo/pull/7
//
// Keywords, GH-, scheme and host are read in any case. The keyword is a whole word, the number ends
// at the end of a word; a word is a run of ASCII letters, digits and underscores, so a hyphen ends
// one. Between keyword and target stand spaces or tabs, or one colon with or without them, never a
// line break. A keyword takes one target. Numbers are 1 to 2^53-1 without leading zero.
//
// The rules are GitHub's ("Linking a pull request to an issue") as far as it documents them, and
// spec.md#closing-keywords beyond. The files in testdata are the contract for other
// implementations.
package closing

import "github.com/label-state/label-state/internal/claim"

// Limit is how many distinct issues one text can name; what follows them is not read.
const Limit = 1000

// InCommit returns the issues that a raw commit message closes, each once, in the order of their
// first mention. Nothing in the text protects a mention: no quotes, no backticks, no "does not". #7
// and GH-7 belong to the home repository, spelled as the caller spells it, and name nothing where
// it is the zero Repo. URLs count if they are on host, which may carry a port. It reads any bytes,
// once.
func InCommit(message string, home claim.Repo, host string) []claim.Issue {
	found, _ := scanner{home, host}.scan(message)
	return found
}

// Beyond reports whether a raw commit message closes more issues than [InCommit] returns.
func Beyond(message string, home claim.Repo, host string) bool {
	_, more := scanner{home, host}.scan(message)
	return more
}

// Perhaps reports whether a raw commit message may close an issue, for a caller who knows neither
// its home repository nor its host yet. It is true wherever [InCommit] finds something, whatever it
// is given, and for any URL after a keyword.
func Perhaps(message string) bool {
	s := scanner{home: claim.Repo{Owner: "any", Name: "any"}}
	for from := range targets(message) {
		if _, ok := cutScheme(message[from:]); ok {
			return true
		}
		if _, ok := s.target(message[from:]); ok {
			return true
		}
	}

	return false
}

// InDescription returns the issues that a pull request description closes, as [InCommit] does, but
// reads Markdown: code spans, fenced and indented code and HTML comments name nothing. Whether
// the pull request goes to the default branch, without which nothing closes, is for the caller.
//
// Blocks are those of CommonMark (quotes, lists, headings, rules, code, paragraphs, comments).
// Everything else is read as plain text: other raw HTML (so <code> protects nothing), link texts,
// emphasis marks, escapes and entities (so **Closes** #7 and Closes \#7 name nothing).
func InDescription(markdown string, home claim.Repo, host string) []claim.Issue {
	return InCommit(WithoutCode(markdown), home, host)
}

// Closes reports whether a pull request description closes one issue. Unlike [InDescription] it
// reads the whole text, whatever number of issues stands before.
func Closes(markdown string, home claim.Repo, host string, issue claim.Issue) bool {
	s, text := scanner{home, host}, WithoutCode(markdown)
	for from := range targets(text) {
		if named, ok := s.target(text[from:]); ok && named.Same(issue) {
			return true
		}
	}

	return false
}
