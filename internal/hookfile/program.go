package hookfile

import (
	"path/filepath"
	"strings"
)

// Program finds the program that a push from here starts, as the script in the place of the hook
// does, with the words "hook pre-push". look finds a program by its name or its path, as
// exec.LookPath does. ok is false when there is none.
func (s State) Program(look func(string) (string, error)) (path string, ok bool) {
	for _, name := range append(append([]string{s.Hook}, strings.Fields(s.Looks)...), s.Setting) {
		if name == "" {
			continue
		}
		path, err := look(name)
		if err != nil {
			continue
		}

		if beside, err := look(besides(path, small)); err == nil && s.Version > 0 {
			path = beside
		}

		return path, true
	}

	return "", false
}

// besides is the path of another program in the folder of one.
func besides(path, name string) string {
	if strings.HasSuffix(path, ".exe") {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(path), name)
}
