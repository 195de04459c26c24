package local

import (
	"fmt"
	"runtime"

	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// A VersionView is the JSON of version.
type VersionView struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

// NewVersionCommand makes the command version.
func NewVersionCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "version", Usage: "print the version",
		Flags: []urfave.Flag{&urfave.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"}},
		Action: func(cc *urfave.Context) error {
			c := &cli.Call{Flags: cc, Terminal: t}
			v := VersionView{cc.App.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return c.Answer(v, fmt.Sprintf("label-state %s (%s, %s)\n", v.Version, v.Go, v.System))
		},
	}
}
