package local

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/setup"
)

// A VersionView is the JSON of version.
type VersionView struct {
	setup.Build
	Go     string `json:"go"`
	System string `json:"system"`
}

// Version says which version this is.
func Version() cli.Verb {
	return cli.Do(cli.Verb{Name: "version", Summary: "print the version"},
		func(_ context.Context, c *cli.Call, _ *cli.Answering) error {
			v := VersionView{c.Terminal.Build, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			from := "commit not known"
			if v.Commit != "" {
				from = "commit " + v.Commit
			}

			if !v.Date.IsZero() {
				from += " of " + v.Date.Format(time.DateOnly)
			}

			if v.Changed {
				from += " and changes"
			}

			return c.Answer(v, fmt.Sprintf("label-state %s (%s, %s, %s)\n", v.Version, from, v.Go, v.System))
		})
}
