package local

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
)

// Man prints the manual page.
func Man() cli.Verb {
	return cli.Do(cli.Verb{
		Name:     "man",
		Summary:  "print the manual page, for man(1)",
		Examples: "label-state man | man -l -\nlabel-state man > /usr/local/share/man/man1/label-state.1\n",
	}, func(_ context.Context, c *cli.Call, _ *struct{}) error {
		page, err := ManPage(c.Terminal)
		if err != nil {
			return err
		}

		return c.Answer(nil, page)
	})
}

// ManPage is the whole program as one page for troff -man.
func ManPage(t cli.Terminal) (string, error) {
	app := t.NewApp(nil)
	app.Usage = "nobody does the same issue twice"
	app.Description = "Coding agents and people share one GitHub issue tracker. label-state lets any of them claim an issue, shows who holds it, " +
		"and releases it when its holder is gone. Options may appear anywhere on a command line.\n\n" +
		"Exit status: 0 yes, 1 no, 2 called or set up wrongly, 3 could not find out, 4 no work."
	page, err := app.ToManWithSection(1)

	page = strings.NewReplacer(
		".TH label-state 1\n", fmt.Sprintf(".TH label-state 1 \"\" \"label-state %s\"\n", app.Version),
		".SH SYNOPSIS\nlabel-state\n", ".SH SYNOPSIS\n"+
			"\\fBlabel\\-state\\fP COMMAND [options] [arguments]\n.br\n"+
			"\\fBlabel\\-state\\fP COMMAND \\-\\-help\n",
	).Replace(page)

	return page + "\n.SH ENVIRONMENT\n" + manRows(Variables()) + ".SH FILES\n" + manRows(files()) +
		".PP\nThe keys of the first one are:\n" + manRows(config.Keys()), err
}

// manRows is a list for troff -man: names, and what they mean.
func manRows(rows [][2]string) string {
	var list strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&list, ".TP\n\\fB%s\\fP\n\\&%s\n", forTroff(row[0]), forTroff(row[1]))
	}

	return list.String()
}

// forTroff is a text in which nothing is a request of troff's, in ASCII.
func forTroff(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r > unicode.MaxASCII:
			fmt.Fprintf(&out, `\[u%04X]`, r)
		case r == '\\':
			out.WriteString(`\e`)
		case r == '-':
			out.WriteString(`\-`)
		case r == '~':
			out.WriteString(`\(ti`)
		case r == '\'':
			out.WriteString(`\(aq`)
		default:
			out.WriteRune(r)
		}
	}

	return out.String()
}

// files are those that the program reads and writes.
func files() [][2]string {
	return [][2]string{
		{config.Path, "the repository's settings, on its default branch"},
		{"~/.local/state/label-state", "this user's state: local pauses, bundles, features, their trees"},
		{".git/label-state", "what this worktree holds, and its sessions"},
		{".git/hooks/pre-push", "the hook that \"hook install\" writes"},
	}
}

// Variables are those of the environment, and what they mean, as docs/cli.md has them.
func Variables() [][2]string {
	return [][2]string{
		{
			"LABEL_STATE_CODENAME, LABEL_STATE_FIRING_ID",
			"who asks, instead of --codename and --firing-id; empty is as if unset, while an empty option " +
				"is exit 2",
		},
		{
			"CLAUDE_CODE_SESSION_ID, CODEX_SESSION_ID, COPILOT_AGENT_SESSION_ID, LABEL_STATE_SESSION (HOST:ID)",
			"the session of an agent host that the command runs in: without a codename, the host is the " +
				"codename. An unknown host is exit 2. Without them, or where they name a session of the same host that sent no " +
				"event, a process above that was recorded when its session started counts",
		},
		{
			"LABEL_STATE_ISSUE",
			"the issue of renew, release, push, plan, advance and status without one; run sets it",
		},
		{"LABEL_STATE_API_URL", "root of the API: an Enterprise server, or the embedded GitHub"},
		{
			"LABEL_STATE_TOKEN",
			"the token for that address. To this machine, and over plain http, no other is sent",
		},
		{
			"GH_TOKEN, GITHUB_TOKEN",
			"the token for github.com and SUBDOMAIN.ghe.com, and for no other host; without one gh auth " +
				"token and git's credential helpers are asked",
		},
		{
			"GH_ENTERPRISE_TOKEN, GITHUB_ENTERPRISE_TOKEN, GH_HOST",
			"the same for an Enterprise server, which GH_HOST names (or LABEL_STATE_API_URL), and for no " +
				"other host",
		},
		{"GH_ORG", "owner of repositories that are named without one"},
		{"LABEL_STATE_CONFIG", "a configuration file of your own"},
		{"what lease.redis.url_env names", "URL of the Redis server, with claim.lease: redis"},
		{
			"LABEL_STATE_LEASE_CA, LABEL_STATE_LEASE_CERT, LABEL_STATE_LEASE_KEY",
			"TLS of a lease store",
		},
		{"LABEL_STATE_SWEEP_REPOS", "repositories to sweep and to list, with commas"},
		{
			"LABEL_STATE_HOME",
			"this user's state folder, instead of ~/.local/state/label-state: local pauses, bundles, " +
				"features, their trees",
		},
		{
			"SLACK_BOT_TOKEN",
			"the bot that shows plans in Slack, or the variable that plan.slack.token_env names",
		},
		{"LABEL_STATE_SLACK_API_URL", "another root of Slack's API"},
		{"LABEL_STATE_SKIP_DEDUP_CHECK", "1 or true: the hook checks nothing"},
		{"LABEL_STATE_HOOK_FORMAT", "json: the hook writes one JSON object instead of text"},
		{"NO_COLOR", "plain text"},
	}
}
