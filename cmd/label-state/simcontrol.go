package main

import (
	"bufio"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// follow does what the lines of standard input say, until they end, and answers each with one on
// standard output.
func (t terminal) follow(s *githubsim.Server) {
	lines := bufio.NewScanner(t.in)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		d, err := passage(line)
		if err != nil {
			warn(t.err, "sim: %s", err)
			continue
		}
		s.Skip(d)
		fmt.Fprintf(t.out, "%s later\n", d)
	}
}

// passage reads "later 2h".
func passage(line string) (time.Duration, error) {
	word, span, _ := strings.Cut(line, " ")
	d, err := time.ParseDuration(strings.TrimSpace(span))
	if word != "later" || err != nil || d <= 0 {
		return 0, fmt.Errorf("%q: want later and a duration, such as later 2h", oneLine(line))
	}
	return d, nil
}
