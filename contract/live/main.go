// Live looks at the real GitHub for what the product assumes of it and no description confirms. It
// works in a scratch repository, with a token that may write there, and cleans up: comments, labels
// and references are deleted, its issue is closed.
//
//	GH_TOKEN=… go -C contract run ./live -repo owner/scratch
//
// It prints the table of docs/github.md with what was seen, and how late new comments were shown.
// The exit code is 0 when all is as expected, 1 when something is not, 3 when something could not
// be found out.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"
)

// Exit codes.
const (
	exitYes     = 0
	exitNo      = 1
	exitCalled  = 2
	exitUnknown = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Getenv, http.DefaultClient, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, getenv func(string) string, client *http.Client, out, errs io.Writer) int {
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	flags.SetOutput(errs)
	repo := flags.String("repo", "", "scratch repository, `OWNER/NAME`, which the token may write")
	if flags.Parse(args) != nil {
		return exitCalled
	}
	owner, name, _ := strings.Cut(*repo, "/")
	token := getenv("LABEL_STATE_TOKEN")
	if token == "" && getenv("LABEL_STATE_API_URL") == "" { // which goes nowhere but to github.com
		token = getenv("GH_TOKEN")
	}
	if owner == "" || name == "" || strings.Contains(name, "/") || token == "" {
		fmt.Fprintln(errs, "live: want a scratch repository and a token that may write there: GH_TOKEN=… make live REPO=owner/scratch")
		return exitCalled
	}
	api := strings.TrimSuffix(getenv("LABEL_STATE_API_URL"), "/")
	if api == "" {
		api = "https://api.github.com"
	}
	f := &forge{api: api, graphQL: strings.TrimSuffix(api, "/v3") + "/graphql", repo: *repo, token: token, client: client, word: fmt.Sprint(time.Now().UnixNano())}
	return f.examine(ctx, out, errs)
}

// examine makes every look, and prints it as it is made.
func (f *forge) examine(ctx context.Context, out, errs io.Writer) int {
	defer f.cleanUp(errs)
	if err := f.begin(ctx); err != nil {
		fmt.Fprintf(errs, "live: %s: %s\n", f.repo, err)
		return exitUnknown
	}
	fmt.Fprint(out, "| name | expected | seen | |\n|---|---|---|---|\n")
	code := exitYes
	for _, a := range assumptions() {
		seen, err := a.look(ctx, f)
		verdict := "as expected"
		switch {
		case err != nil:
			seen, verdict = "could not be found out: "+err.Error(), "?"
			if code == exitYes {
				code = exitUnknown
			}
		case !strings.HasPrefix(seen, a.expected):
			verdict, code = "**differs**", exitNo
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", a.name, a.expected, oneLine(seen), verdict)
	}
	for _, q := range questions() {
		seen, err := q.ask(ctx, f)
		if err != nil {
			seen = "could not be found out: " + err.Error()
		}
		fmt.Fprintf(out, "| %s | nothing | %s | |\n", q.name, oneLine(seen))
	}
	f.late.table(out)
	return code
}

// oneLine keeps what GitHub says inside a cell of the table.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "|", "\\|", "\x1b", "").Replace(text)
}
