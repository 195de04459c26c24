// Package migrate reads what the original label scripts left behind: the labels with which they
// counted failed attempts, and the file in which a host listed paused repositories.
//
// It is pure: names and texts go in, facts come out.
package migrate

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// attempt is a label that counted failures: "attempt-2", or with any prefix "lucius-attempt-2".
var attempt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:.*[-:/ ])?attempt-([0-9]{1,3})$`) })

// Attempts returns how many failures a label stands for; ok is false for any other label.
func Attempts(label string) (n int, ok bool) {
	m := attempt().FindStringSubmatch(strings.ToLower(label))
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// Counted returns the labels among names that counted failures, and the largest number they stand
// for: each script counted for itself, and a number contains those before it.
func Counted(names []string) (labels []string, n int) {
	for _, name := range names {
		if k, ok := Attempts(name); ok {
			labels, n = append(labels, name), max(n, k)
		}
	}
	return labels, n
}
