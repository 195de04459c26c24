package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// environ is what every measured program gets: a search path, a home of its own, and no
// configuration but the repository's. GitHub is a port of this machine where nobody listens, so
// that a hook that has found an issue gets as far as the network, and no further.
func environ(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" +
			os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "LABEL_STATE_TOKEN=none", "LABEL_STATE_API_URL=http://127.0.0.1:9",
	}
}

// A folder is where git runs.
type folder struct {
	path string
	env  []string
}

// git returns what git prints, without the last line break.
func (f folder) git(args ...string) (string, error) { return f.feed(nil, args...) }

func (f folder) feed(stdin io.Reader, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = f.path, f.env, stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}

	return strings.TrimSuffix(string(out), "\n"), err
}

// fastImport has git make what write describes. Unpacked, the objects are files of their own, as
// those that git commit makes; else they are one pack.
func (f folder) fastImport(unpacked bool, write func(*stream)) error {
	limit := "1"
	if unpacked {
		limit = "100000"
	}

	r, w := io.Pipe()
	go func() {
		s := newStream(w)
		write(s)
		w.CloseWithError(s.Flush())
	}()

	_, err := f.feed(r, "-c", "fastimport.unpackLimit="+limit, "fast-import", "--quiet", "--force")
	r.Close()
	return err
}
