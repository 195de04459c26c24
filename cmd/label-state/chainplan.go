package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/urfave/cli/v2"
)

func planFlags() []cli.Flag {
	return []cli.Flag{
		featureFlag(),
		&cli.StringFlag{Name: "parent", Usage: "the `ISSUE` that the feature is for, as owner/repo#7"},
		&cli.GenericFlag{Name: "pr", Value: &several{}, Usage: "one pull request: `OWNER/REPO:BRANCH[:BASE][=TITLE]`; repeated, in order"},
		&cli.StringFlag{Name: "closes", Value: "last", Usage: "`PART` that closes the parent: last, none, or a number"},
		&cli.StringFlag{Name: "file", Usage: "take the whole plan from `FILE`, - for standard input"},
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

// plan reads what the flags say. given is false when they name no more than a feature.
func (c *call) plan() (p prchain.Plan, given bool, err error) {
	prs := *c.Generic("pr").(*several)
	named := c.IsSet("parent") || c.IsSet("closes") || len(prs) > 0
	switch file := c.String("file"); {
	case file != "" && (named || c.IsSet("feature")):
		return p, false, wrong(path(c.Context), "--file has the whole plan; leave --feature, --parent, --pr and --closes out")
	case file != "":
		p, err = c.planFile(file)
		return p, true, err
	}
	p.Feature = c.String("feature")
	if err := prchain.CheckFeature(p.Feature); err != nil || !named {
		return p, false, err
	}
	if p.Parent, err = host.ParseIssue(c.String("parent"), host.Defaults{Org: c.env.Getenv("GH_ORG")}); err != nil {
		return p, false, err
	}
	for _, text := range prs {
		part, err := prchain.ParsePart(text)
		if err != nil {
			return p, false, err
		}
		p.Parts = append(p.Parts, part)
	}
	if p.Closes, err = c.closes(len(p.Parts)); err == nil {
		err = p.Check()
	}
	return p, true, err
}

func (c *call) closes(parts int) (int, error) {
	switch text := c.String("closes"); text {
	case "last":
		return parts, nil
	case "none":
		return 0, nil
	default:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > parts {
			return 0, wrong(path(c.Context), "--closes %q: want last, none, or 1 to %d", oneLine(text), parts)
		}
		return n, nil
	}
}

const maxPlan = 8 << 20 // bytes of a plan file

func (c *call) planFile(name string) (prchain.Plan, error) {
	in := c.in
	if name != "-" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.env.Dir, name)
		}
		f, err := os.Open(name)
		if err != nil {
			return prchain.Plan{}, wrong(path(c.Context), "read plan: %s", err)
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

func (t terminal) planChain(cc *cli.Context) error {
	c := &call{Context: cc, terminal: t}
	if err := noArguments(cc); err != nil {
		return err
	}
	p, given, err := c.plan()
	if err == nil && !given {
		err = wrong("chain plan", "what is planned? Give --parent and --pr, or --file")
	}
	if err != nil {
		c.subject.Feature = oneLine(c.String("feature"))
		return c.failed(cc.Context, err)
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
		fmt.Fprintf(&b, "%d/%d  %s: %s into %s: %s%s\n", n+1, len(p.Parts), part.Repo, part.Branch, base, p.Title(n+1), closing)
	}
	return c.answer(p, b.String())
}
