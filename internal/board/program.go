package board

import (
	"context"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// A Screen is the terminal a board runs in.
type Screen struct {
	In      io.Reader
	Out     io.Writer
	NoColor bool
}

// Program shows the board until the person quits, the terminal is gone or ctx ends; none of these
// is an error.
func Program(ctx context.Context, m Model, s Screen) error {
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(s.In), tea.WithOutput(s.Out),
		tea.WithoutSignalHandler(),
	}
	if s.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}

	_, err := tea.NewProgram(m, options...).Run()
	if ctx.Err() != nil || m.gone() {
		return nil
	}

	return err
}
