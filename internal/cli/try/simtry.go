package try

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
)

// announce says where the server is and what to try there, first to people, then to the file others
// wait for.
func announce(ctx context.Context, c *cli.Call, url string, seed githubsim.Seed, p *simParams) error {
	said := fmt.Sprintf("the embedded GitHub answers at %s   (stop it with Ctrl-C)\n", url)
	if try := tryThis(url, seed); try != "" {
		build := "" // for somebody who runs this one by "go run" and has not installed the programs
		if _, err := exec.LookPath("label-state"); err != nil && sources(ctx) != "" {
			build = "  go build -o bin/ ./cmd/label-state && export PATH=\"$PWD/bin:$PATH\"\n"
		}
		said += fmt.Sprintf("\ntry it in another terminal, line by line:\n\n%s%s", build, try)
		if p.Action != "" {
			said += contributed(url, seed)
		}
	}

	temp := p.URLFile + ".new"
	if p.URLFile != "" {
		if err := os.WriteFile(temp, []byte(url+"\n"), 0o600); err != nil {
			return c.Usagef("--url-file: %s", err)
		}
	}

	fmt.Fprint(c.Out, said) // at once: whoever has read that it answers need not read on
	if p.URLFile == "" {
		return nil
	}

	return os.Rename(temp, p.URLFile)
}

// tryThis are commands, ready to be copied: an agent takes the first issue that is open, a person
// looks, and is refused when pushing a commit that closes it. It is empty for a seed in which
// nobody may, or there is nothing to do.
func tryThis(url string, seed githubsim.Seed) string {
	for _, repo := range seed.Repos {
		agent, person := writers(seed, repo.Name)
		n := slices.IndexFunc(repo.Issues,
			func(i githubsim.SeedIssue) bool { return i.State != "closed" && i.Number > 0 })
		if agent == "" || n < 0 {
			continue
		}

		issue := fmt.Sprintf("%s#%d", repo.Name, repo.Issues[n].Number)
		return fmt.Sprintf(`  export LABEL_STATE_API_URL=%s
  LABEL_STATE_TOKEN=%s label-state claim %s --codename lucius
  export LABEL_STATE_TOKEN=%s
  label-state status %s
  git clone %s/%s.git
  cd %s
  label-state hook install
  git commit --allow-empty -m 'Quick fix' -m 'Closes #%d'
  git push origin HEAD:quick-fix      # refused, because lucius holds it
  label-state board                   # and this is what everybody sees
`, url, agent, issue, person, issue, strings.Replace(url, "://", "://x:"+person+"@", 1), repo.Name, repo.Name[strings.IndexByte(repo.Name, '/')+1:], repo.Issues[n].Number)
	}

	return ""
}

// contributed is how somebody who may only comment takes an issue that the configuration has for
// contributors. It is empty for a seed without one of them.
func contributed(url string, seed githubsim.Seed) string {
	for _, repo := range seed.Repos {
		conf, _ := config.Parse(config.Path, []byte(repo.Files[config.Path])) // where it is wrong, nobody is let in
		n := slices.IndexFunc(repo.Issues, func(i githubsim.SeedIssue) bool {
			return i.State != "closed" && i.Number > 0 && conf.Contributors.Covers(i.Labels)
		})
		who := slices.IndexFunc(seed.Users, func(u githubsim.SeedUser) bool {
			return u.Token != "" && u.Permissions[repo.Name] == ""
		})
		if n >= 0 && who >= 0 {
			return fmt.Sprintf(`
%s may only comment; the Action carries the comment out:

  curl -so /dev/null -H 'Authorization: bearer %s' -d '{"body":"/claim"}' %s/repos/%s/issues/%d/comments
  label-state status %[4]s#%[5]d
`, seed.Users[who].Login, seed.Users[who].Token, url, repo.Name, repo.Issues[n].Number)
		}
	}

	return ""
}

// writers are the tokens of the first two who may write to the repository, besides the workflow, or
// of one as both.
func writers(seed githubsim.Seed, repo string) (agent, person string) {
	for _, u := range seed.Users {
		if role := u.Permissions[repo]; u.Token == "" || u.ReadOnly || isWorkflow(u) || role != "write" && role != "maintain" &&
			role != "admin" {
			continue
		}
		if agent != "" {
			return agent, u.Token
		}

		agent, person = u.Token, u.Token
	}

	return agent, person
}
