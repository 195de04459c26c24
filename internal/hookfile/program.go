package hookfile

import (
	"path/filepath"
	"strings"
)

// A Program is what a push starts to have its commits checked.
type Program struct {
	Path string
	Args []string // in front of git's: none for the small program
}

// Program finds what a push from here starts, as the script in the place of the hook does. look
// finds a program by its name or its path, as exec.LookPath does. ok is false when there is none.
func (s State) Program(look func(string) (string, error)) (p Program, ok bool) {
	names := append([]string{s.Hook}, strings.Fields(s.Looks)...)
	if s.Version > 0 {
		for _, name := range strings.Fields(s.Looks) {
			names = append(names, filepath.Join(filepath.Dir(s.File), name))
		}
		names = append(names, s.Setting)
	}

	for _, name := range names {
		if name == "" {
			continue
		}
		path, err := look(name)
		if err != nil {
			continue
		}

		if beside, err := look(besides(path, small)); err == nil && s.Version > 1 && !isSmall(path) {
			path = beside
		}

		return programAt(path), true
	}

	return Program{}, false
}

// besides is the path of another program in the folder of one.
func besides(path, name string) string {
	if strings.HasSuffix(path, ".exe") {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(path), name)
}

// programAt says how the program at a path is called.
func programAt(path string) Program {
	if isSmall(path) {
		return Program{Path: path}
	}
	return Program{Path: path, Args: strings.Fields(command)}
}

// isSmall reports whether a path is that of the small program, by its name: nothing else of ours
// ends so.
func isSmall(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, ".exe"), "pre-push")
}
