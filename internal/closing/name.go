package closing

import (
	"strconv"

	"github.com/label-state/label-state/internal/claim"
)

const (
	maxOwner  = 39
	maxRepo   = 100
	maxNumber = 1<<53 - 1 // the largest integer that every JSON reader keeps
	maxDigits = len("9007199254740991")
)

// ValidRepo reports whether GitHub can have a repository of that name and owner.
func ValidRepo(r claim.Repo) bool { return validOwner(r.Owner) && claim.IsName(r.Name) }

// validOwner reports whether s can be the login of a GitHub user or organization that owns
// repositories: 1 to 39 letters, digits and single hyphens, none at either end. A managed user's
// login ends in an underscore and the short code of the enterprise.
func validOwner(s string) bool {
	if s == "" || len(s) > maxOwner {
		return false
	}
	underscore := false
	for i := range len(s) {
		switch c := s[i]; {
		case isLetter(c) || isDigit(c):
		case i == 0 || i == len(s)-1 || underscore || !isLetter(s[i-1]) && !isDigit(s[i-1]):
			return false
		case c == '_':
			underscore = true
		case c != '-':
			return false
		}
	}

	return true
}

// ParseNumber reads the number of an issue: decimal digits, 1 to 2^53-1, no sign, no leading zero.
func ParseNumber(digits string) (int, bool) {
	if digits == "" || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && int64(n) <= maxNumber
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '_' }
