package claim

import "slices"

// A Stake is one key of a log before it is known whose records count. It tells whose do matter to
// the question who holds the issue, and whose do not.
type Stake struct {
	Worker Worker
	Claims []Comment // who wrote one of these may hold the issue
	Marks  []Comment // what else names the key: it may end the claim, or stretch its lease
	// everybody who wrote a claim of it has ended it, too: whoever counts, nobody holds the issue
	// by it
	Over bool
	PRs  []string // the pull requests that its releases name
}

// Stakes lists the keys of which there is a claim, in the order of their first comments.
func Stakes(comments []Comment) []Stake {
	var out []Stake
	index := map[Worker]int{}
	type ender struct {
		release Record
		login   string
	}
	var enders []ender
	for _, c := range inOrder(comments) {
		r, ok, _ := Decode(c.Body)
		if !ok {
			continue
		}

		n, known := index[r.Worker]
		if !known {
			n = len(out)
			index[r.Worker] = n
			out = append(out, Stake{Worker: r.Worker})
		}

		s := &out[n]
		switch r.Kind {
		case KindClaim:
			s.Claims = append(s.Claims, c)
			continue
		case KindRelease:
			enders = append(enders, ender{r, c.Author})
			if r.PR != "" && !slices.Contains(s.PRs, r.PR) {
				s.PRs = append(s.PRs, r.PR)
			}
		}

		s.Marks = append(s.Marks, c)
	}

	for n := range out {
		s := &out[n]
		s.Over = !slices.ContainsFunc(s.Claims, func(c Comment) bool {
			r, _, _ := Decode(c.Body)
			return !slices.ContainsFunc(enders, func(e ender) bool {
				own := e.release.Worker == s.Worker && SameLogin(e.login, c.Author)
				return own && e.release.ends(Bid{Nonce: r.Nonce, Record: Record{Resumes: r.Resumes}})
			})
		})
	}

	return slices.DeleteFunc(out, func(s Stake) bool { return len(s.Claims) == 0 })
}
