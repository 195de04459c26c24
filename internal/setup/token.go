package setup

import (
	"context"
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/host"
)

// A credential is what requests to one host are signed with, and where it was found.
type credential struct {
	secret github.Secret
	source string // a variable's name, FromGH, FromGit or "given"
}

// Where a token is found that is in no variable (Session.TokenFrom).
const (
	FromGH  = "gh auth token"
	FromGit = "git credential"
)

// blame has a refusal of the token say where it was found.
func (t credential) blame(err error) error {
	if refused, ok := errors.AsType[*github.AuthError](err); ok {
		refused.From = t.source
	}
	return err
}

// A NoTokenError says that no token for the host was found. Variables are those that would do; none
// do for a loopback host that nobody named. Withheld are those that are set, and may not go there,
// because the user has not named the host: a remote's address may be anybody's. Unaddressed is set
// where LABEL_STATE_TOKEN is, and the address that it is for is not named.
type NoTokenError struct {
	Host        string
	Variables   []string
	Withheld    []string
	Unaddressed bool
}

func (e *NoTokenError) Error() string {
	text := "find token for " + e.Host + ": "
	switch none := len(e.Variables) == 0; {
	case len(e.Withheld) > 0:
		text += strings.Join(e.Withheld, " and ") + " is not sent there unless GH_HOST names that host"
	case none && (origin{Endpoints: host.API(e.Host)}).local():
		return text + "no token is sent there unless LABEL_STATE_API_URL names it"
	case none:
		text += "neither gh nor git has one"
	default:
		text += "none in " + strings.Join(e.Variables, ", ")
	}

	if e.Unaddressed {
		text += "; LABEL_STATE_TOKEN is only for the address that LABEL_STATE_API_URL names, and that is not set"
	}

	return text
}

// Remedy is what a person does about it.
func (e *NoTokenError) Remedy() string {
	switch {
	case len(e.Withheld) > 0 || len(e.Variables) == 0 && !(origin{Endpoints: host.API(e.Host)}).local():
		return "if it is your GitHub: export GH_HOST=" + e.Host + ", or: " + Login(e.Host)
	case len(e.Variables) == 0:
		return "export LABEL_STATE_API_URL=http://" + e.Host
	case len(e.Variables) == 1: // gh and git are not asked about such a host
		return "export " + e.Variables[0] + "=TOKEN"
	}

	remedy := "set one of them, or run: " + Login(e.Host)
	if e.Unaddressed {
		remedy = "export LABEL_STATE_API_URL as well; or " + remedy
	}

	return remedy
}

// Login is the command that has gh keep a token for a host; of an unknown one, which is empty, for
// github.com.
func Login(host string) string {
	if host == "" || host == "github.com" {
		return "gh auth login"
	}
	return "gh auth login --hostname " + host
}

// An origin is where requests go, and whether a person named that very address.
type origin struct {
	host.Endpoints
	named bool   // by LABEL_STATE_API_URL or Options.API
	slug  string // owner/repo; credential helpers may tell repositories apart
}

// A tokenSearch looks for the token of one API.
type tokenSearch struct {
	env Environment
	at  origin
}

// find is the token that the options give or whose variable they name, else one for the API. Each
// source is only asked for tokens of that host, and a token that was made for one host never goes
// to another:
//
//   - LABEL_STATE_TOKEN is for the address that LABEL_STATE_API_URL names, and for nothing else.
//   - GH_TOKEN and GITHUB_TOKEN are for github.com and SUBDOMAIN.ghe.com, and for nothing else.
//   - GH_ENTERPRISE_TOKEN and GITHUB_ENTERPRISE_TOKEN are for the host that GH_HOST or LABEL_STATE_API_URL names, and for nothing
//     else: a remote may name any.
//   - gh and git's credential helpers know which host a token is for.
//
// To this machine, and over plain http, only LABEL_STATE_TOKEN goes: whatever listens there may be
// anybody's.
func (s tokenSearch) find(ctx context.Context, o Options) (credential, error) {
	switch {
	case o.Token != "":
		return credential{github.NewSecret(o.Token), "given"}, nil
	case o.TokenEnv != "":
		return s.inVariable(o.TokenEnv, o.Chosen)
	}

	variables := s.variables()
	for _, name := range variables {
		if v := strings.TrimSpace(s.env.Getenv(name)); v != "" {
			return newToken(v, name)
		}
	}

	none := &NoTokenError{
		Host:        s.at.Host(),
		Variables:   variables,
		Withheld:    s.withheld(),
		Unaddressed: !s.at.named && s.env.Getenv("LABEL_STATE_TOKEN") != "",
	}
	if !s.at.encrypted() || s.at.local() || !isName(s.at.Host()) { // gh and git keep tokens for real hosts
		return credential{}, none
	}

	for _, ask := range []func(context.Context) (credential, bool){s.ghToken, s.gitToken} {
		if t, ok := ask(ctx); ok {
			return t, nil
		}
	}

	return credential{}, none
}

// variables are the ones that may hold a token for the origin, best first.
func (s tokenSearch) variables() []string {
	var names []string
	if s.at.named {
		names = append(names, "LABEL_STATE_TOKEN")
	}

	switch {
	case s.at.local() || !s.at.encrypted():
		return names
	case !isCloud(s.at.Host()) && !s.named():
		return names
	}

	return append(names, host.TokenVariables(s.at.Host())...)
}

// named reports whether the user has named the host as a GitHub of theirs: by GH_HOST, or by the
// very address. GH_HOST counts first.
func (s tokenSearch) named() bool {
	own := strings.ToLower(s.env.Getenv("GH_HOST"))
	return own == s.at.Host() || s.at.named && (own == "" || isCloud(own))
}

// withheld are the variables with a token that would be for the host, had the user named it.
func (s tokenSearch) withheld() (names []string) {
	if s.at.local() || !s.at.encrypted() {
		return nil
	}

	for _, name := range host.TokenVariables(s.at.Host()) {
		if strings.TrimSpace(s.env.Getenv(name)) != "" {
			names = append(names, name)
		}
	}

	return names
}

// local reports whether the API is on this machine.
func (o origin) local() bool {
	u, err := url.Parse(o.REST)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func (o origin) encrypted() bool { return strings.HasPrefix(o.REST, "https://") }

// isName accepts a host, with or without port, that can be given to gh and git as it is.
func isName(s string) bool {
	return regexp.MustCompile(`^[a-z0-9_][a-z0-9._-]*(:[0-9]+)?$`).MatchString(s)
}

// newToken refuses what cannot be in a header.
func newToken(text, source string) (credential, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return credential{}, &answer.Problem{
			Code: answer.BadToken,
			Why:  "use token from " + source + ": it is not one word of printable ASCII",
			Next: []answer.Command{
				answer.Advice("copy the whole token again to " + source),
				answer.Shell("or use the one that gh has", "gh", "auth", "token"),
			},
		}
	}
	return credential{github.NewSecret(text), source}, nil
}

// storeTime is how long gh, and then git, may take. Both may have to unlock a key ring.
const storeTime = 2 * time.Second

// ghToken asks GitHub's own CLI, if there is one.
func (s tokenSearch) ghToken(ctx context.Context) (credential, bool) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	out, err := s.env.Run(ctx, Command{
		Name: "gh",
		Args: []string{"auth", "token", "--hostname=" + s.at.Host()},
		Dir:  s.env.Dir,
		Env:  append(slices.Clone(noTokens), "GH_PROMPT_DISABLED=1"),
	})

	return found(strings.TrimSpace(string(out)), FromGH, err)
}

// noTokens keeps gh, which may also be git's helper, from answering with a variable for whatever
// host it is asked about: what the variables hold has been judged already.
var noTokens = []string{"GH_TOKEN=", "GITHUB_TOKEN=", "GH_ENTERPRISE_TOKEN=", "GITHUB_ENTERPRISE_TOKEN="}

// gitToken asks git's credential helpers (git-credential(1)), which must not ask anybody.
func (s tokenSearch) gitToken(ctx context.Context) (credential, bool) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	git := s.env.Git()
	git.Env = append(slices.Clone(git.Env), noTokens...)
	out, err := git.Help(ctx, "protocol=https\nhost="+s.at.Host()+"\npath="+s.at.slug+".git\n\n", "credential", "fill")
	var password string
	for line := range strings.Lines(out) {
		if v, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "password="); ok {
			password = v
		}
	}

	return found(password, FromGit, err)
}

// found is a token that a program printed; anything odd counts as none.
func found(text, source string, err error) (credential, bool) {
	if err != nil || text == "" {
		return credential{}, false
	}
	t, err := newToken(text, source)
	return t, err == nil
}
