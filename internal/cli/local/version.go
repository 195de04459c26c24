package local

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/label-state/label-state/internal/cli"
)

// A VersionView is the JSON of version.
type VersionView struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"`
	Changed bool   `json:"changed,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

// Version says which version this is.
func Version() cli.Verb {
	return cli.Do(cli.Verb{Name: "version", Summary: "print the version"},
		func(_ context.Context, c *cli.Call, _ *cli.Answering) error {
			t := c.Terminal
			v := VersionView{
				Version: t.Build.Version,
				Commit:  t.Build.Commit,
				Changed: t.Build.Changed,
				Go:      runtime.Version(),
				System:  runtime.GOOS + "/" + runtime.GOARCH,
			}
			from := "commit not known"
			if v.Commit != "" {
				from = "commit " + v.Commit
			}

			if !t.Build.Date.IsZero() {
				v.Date = t.Build.Date.UTC().Format(time.RFC3339)
				from += " of " + t.Build.Date.UTC().Format(time.DateOnly)
			}

			if v.Changed {
				from += " and changes"
			}

			return c.Answer(v, fmt.Sprintf("label-state %s (%s, %s, %s)\n", v.Version, from, v.Go, v.System))
		})
}
