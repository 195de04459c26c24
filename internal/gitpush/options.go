package gitpush

import (
	"context"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
)

// refused is an option of git push that a push under conditions cannot take.
func refused(option string) error {
	return answer.Wrongf("git push %s: not allowed here; it could remove a condition, or move more than the branch",
		option)
}

// Options are what a push is asked for besides.
type Options struct {
	git   []string // as git takes them
	track bool     // the local branch is to follow the remote's
}

// ReadOptions reads options of git push that change nothing about what is moved and under which
// condition: --force would take all conditions away (git-push(1)). They are a list, not a pattern,
// since git also takes beginnings of long options. The error is a wrong call.
func ReadOptions(words []string) (o Options, err error) {
	plain := []string{ // without a value
		"-q", "--quiet", "-v", "--verbose", "--progress", "--no-progress", "--verify", "--no-verify", "--thin",
		"--no-thin", "--no-signed",
		"-4", "--ipv4", "-6", "--ipv6",
	}

	for n := 0; n < len(words); n++ {
		word := words[n]
		switch name, _, valued := strings.Cut(word, "="); {
		case word == "-u" || word == "--set-upstream":
			o.track = true
		case name == "-o" || name == "--push-option":
			if !valued && n+1 == len(words) {
				return Options{}, refused(word)
			}
			if o.git = append(o.git, word); !valued {
				n++
				o.git = append(o.git, words[n])
			}
		case name == "--signed" || slices.Contains(plain, word):
			o.git = append(o.git, word)
		default:
			return Options{}, refused(word)
		}
	}

	return o, nil
}

// Track has the local branch follow the branch that was pushed, if the options ask for it. Git's
// own
// --set-upstream takes no commit, and a push under conditions is of one.
func (g Git) Track(ctx context.Context, p Push, local string) error {
	if !p.Options.track || local == "" {
		return nil
	}

	for key, value := range map[string]string{"remote": p.Remote, "merge": p.ref()} {
		if _, err := g.Ask(ctx, "config", "branch."+local+"."+key, value); err != nil {
			return err
		}
	}

	return nil
}
