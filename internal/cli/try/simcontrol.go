package try

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
)

// followControl does what the lines of standard input say, until they end, and answers each with
// one on standard output.
func followControl(t cli.Terminal, s *githubsim.Server) {
	lines := bufio.NewScanner(t.In)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}

		word, span, _ := strings.Cut(line, " ")
		d, err := config.ParseSpan(strings.TrimSpace(span))
		if word != "later" || err != nil || d <= 0 {
			t.Warnf("sim: %q: expected later and a duration, such as later 2h", cli.OneLine(line))
			continue
		}

		s.Skip(d)
		fmt.Fprintf(t.Out, "%s later\n", d)
	}
}
