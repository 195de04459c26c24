package gitpush

import "strings"

// What "git push --porcelain" prints is a line for each reference: a flag, source and destination,
// and a summary, with tabs between (git-push(1), OUTPUT).

// A line is what git said of one reference.
type line struct{ flag, ref, summary string }

// lines returns the lines of an answer that are of this form.
func lines(out string) (all []line) {
	for text := range strings.Lines(out) {
		part := strings.SplitN(strings.TrimSuffix(text, "\n"), "\t", 3)
		if len(part) != 3 || len(part[0]) != 1 {
			continue
		}
		_, ref, _ := strings.Cut(part[1], ":")
		all = append(all, line{part[0], ref, part[2]})
	}

	return all
}

// arrived reports whether git says of every reference that it was moved.
func arrived(out string, p Push, next string) bool {
	want := map[string]bool{p.ref(): true}
	if next != "" {
		want[p.With.Ref] = true
	}

	for _, l := range lines(out) {
		if l.flag == " " || l.flag == "*" || l.flag == "+" {
			delete(want, l.ref)
		}
	}

	return len(want) == 0
}

// refusal reports whether this git or the remote's said no, and why. No is a word for each
// reference; where it is missing for one, the connection broke first and nobody knows. Of several
// reasons the branch's counts; one that only says that another reference failed counts last.
func refusal(out string, p Push) (reason string, ok bool) {
	all := lines(out)
	for _, l := range all {
		said, refused := strings.CutPrefix(l.summary, "[remote rejected] ")
		if !refused {
			said, refused = strings.CutPrefix(l.summary, "[rejected] ")
		}

		if l.flag != "!" || !refused {
			return "", false
		}
		said = strings.Trim(said, "()")
		if follows := strings.HasPrefix(said, "atomic "); reason == "" || !follows &&
			(l.ref == p.ref() || strings.HasPrefix(reason, "atomic ")) {
			reason = said
		}
	}

	return reason, len(all) > 0
}
