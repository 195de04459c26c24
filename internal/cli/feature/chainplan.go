package feature

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/prchain"
	urfave "github.com/urfave/cli/v2"
)

func planFlags() []urfave.Flag {
	return []urfave.Flag{
		featureFlag(),
		&urfave.StringFlag{Name: "parent", Usage: "the `ISSUE` that the feature is for, as owner/repo#7"},
		&urfave.GenericFlag{
			Name: "pr", Value: &several{},
			Usage: "one pull request: `OWNER/REPO:BRANCH[:BASE][=TITLE]`; repeated, in order",
		},
		&urfave.StringFlag{
			Name: "closes", Value: "last",
			Usage: "`PART` that closes the parent: last, none, or a number",
		},
		&urfave.StringFlag{Name: "file", Usage: "take the whole plan from `FILE`, - for standard input"},
	}
}

// several is a flag that may be repeated. Unlike the library's, its values may hold commas.
type several []string

// Set adds a value.
func (w *several) Set(text string) error {
	*w = append(*w, text)
	return nil
}

// String joins the values.
func (w *several) String() string { return strings.Join(*w, " ") }

// planFromFlags reads what the flags say. given is false when they name no more than a feature.
func planFromFlags(c *cli.Call) (p prchain.Plan, given bool, err error) {
	prs := *c.Flags.Generic("pr").(*several)
	named := c.Flags.IsSet("parent") || c.Flags.IsSet("closes") || len(prs) > 0
	switch file := c.Flags.String("file"); {
	case file != "" && (named || c.Flags.IsSet("feature")):
		return p, false, cli.Usagef(cli.CommandPath(c.Flags),
			"--file has the whole plan; leave --feature, --parent, --pr and --closes out")
	case file != "":
		p, err = readPlanFile(c, file)
		return p, true, err
	}

	p.Feature = c.Flags.String("feature")
	if err := prchain.CheckFeature(p.Feature); err != nil || !named {
		return p, false, err
	}
	if p.Parent, err = host.ParseIssue(c.Flags.String("parent"),
		host.Defaults{Org: c.Terminal.Env.Getenv("GH_ORG")}); err != nil {
		return p, false, err
	}

	for _, text := range prs {
		part, err := prchain.ParsePart(text)
		if err != nil {
			return p, false, err
		}
		p.Parts = append(p.Parts, part)
	}

	switch text := c.Flags.String("closes"); text {
	case "last":
		p.Closes = len(p.Parts)
	case "none":
	default:
		if p.Closes, err = strconv.Atoi(text); err != nil || p.Closes < 1 || p.Closes > len(p.Parts) {
			return p, true, cli.Usagef(cli.CommandPath(c.Flags), "--closes %q: want last, none, or 1 to %d",
				cli.OneLine(text), len(p.Parts))
		}
	}

	return p, true, p.Check()
}

const maxPlan = 8 << 20 // bytes of a plan file

func readPlanFile(c *cli.Call, name string) (prchain.Plan, error) {
	in := c.Terminal.In
	if name != "-" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.Terminal.Env.Dir, name)
		}
		f, err := os.Open(name)
		if err != nil {
			return prchain.Plan{}, cli.Usagef(cli.CommandPath(c.Flags), "read plan: %s", err)
		}

		defer f.Close()
		in = f
	}

	data, err := io.ReadAll(io.LimitReader(in, maxPlan))
	if err != nil {
		return prchain.Plan{}, fmt.Errorf("read plan: %w", err)
	}

	return prchain.ReadPlan(data)
}

func runChainPlan(t cli.Terminal, cc *urfave.Context) error {
	c := &cli.Call{Flags: cc, Terminal: t}
	if err := noArguments(cc); err != nil {
		return err
	}

	p, given, err := planFromFlags(c)
	if err == nil && !given {
		err = cli.Usagef("chain plan", "what is planned? Give --parent and --pr, or --file")
	}

	if err != nil {
		c.Subject.Feature = cli.OneLine(c.Flags.String("feature"))
		return c.Fail(cc.Context, err)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s for %s\n", p.Feature, p.Parent)
	for n, part := range p.Parts {
		base, closing := part.Base, ""
		if base == "" {
			base = "the default branch"
		}

		if n+1 == p.Closes {
			closing = "; closes " + p.Parent.String()
		}
		fmt.Fprintf(&b, "%d/%d  %s: %s into %s: %s%s\n", n+1, len(p.Parts), part.Repo, part.Branch, base, p.Title(n+1),
			closing)
	}

	return c.Answer(p, b.String())
}
