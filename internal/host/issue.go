package host

import (
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// Defaults complete what people leave out. Any of them may be empty.
type Defaults struct {
	Owner, Repo string   // of the clone: where #7 is
	Org         string   // who owns a repository named alone (GH_ORG); empty means Owner
	Hosts       []string // whose URLs are taken, spelled as in a [Remote]; empty means github.com
	Nowhere     error    // why the clone that is here is of no GitHub; nil when it is of one, or there is none
}

// queuePrefix begins the id of an issue in the queue.
const queuePrefix = "github-"

const (
	issueForms = "expected owner/repo#7, repo#7, #7, 7, github-7 or the URL of an issue"
	repoForms  = "expected owner/repo, repo or the URL of a repository"
)

// ParseIssue reads owner/repo#7, repo#7, #7, 7, github-7 as the queue has it, or the URL of an
// issue or pull request (cli.md#naming-an-issue). The number is 1 to 2^53-1, the names are valid.
// The error is an answer.Usage.
func ParseIssue(ref string, d Defaults) (claim.Issue, error) {
	r := reference{
		kind:     "issue",
		text:     ref,
		forms:    issueForms,
		Defaults: d,
	}

	if strings.Contains(ref, "://") { // https://HOST/owner/repo/issues/7 or …/pull/7, whatever follows
		page := ref
		if end := strings.IndexAny(page, "?#"); end >= 0 {
			page = page[:end]
		}

		a, err := split(page)
		parts := strings.SplitN(a.path, "/", 5)
		if err != nil || !a.isWeb() || len(parts) < 4 || parts[2] != "issues" && parts[2] != "pull" {
			return claim.Issue{}, r.refuse(r.forms)
		}

		number, ok := closing.ParseNumber(parts[3])
		repo := claim.Repo{Owner: parts[0], Name: parts[1]}
		if !ok || !closing.ValidRepo(repo) {
			return claim.Issue{}, r.refuse(r.forms)
		}
		if err := r.known(a.webHost()); err != nil {
			return claim.Issue{}, err
		}

		return repo.Issue(number), nil
	}

	name, digits, ok := strings.Cut(ref, "#")
	if !ok {
		name, digits = "", strings.TrimPrefix(ref, queuePrefix)
	}

	number, ok := closing.ParseNumber(digits)
	if !ok {
		return claim.Issue{}, r.refuse(r.forms)
	}

	owner, repo, err := r.repo(name)
	if err != nil {
		return claim.Issue{}, err
	}

	return claim.Issue{Owner: owner, Repo: repo, Number: number}, nil
}
