// Command sizes builds the programs for linux/amd64 as a release does and prints a table of their
// sizes, and of what each part weighs: the code and data that the linker names after a package. The
// tables for stack traces and garbage collection, about half of a program, are in the size and in
// no part.
//
//	go -C tools run ./sizes -C ..
package main

import (
	"cmp"
	"compress/gzip"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("C", ".", "the repository")
	most := flag.Int("parts", 5, "how many parts are named for each program")
	flag.Parse()
	if err := run(*root, *most); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

func run(root string, most int) error {
	dir, err := os.MkdirTemp("", "sizes")
	if err != nil {
		return err
	}

	defer os.RemoveAll(dir)
	whole, stripped := filepath.Join(dir, "whole"), filepath.Join(dir, "stripped")
	if err := errors.Join(build(root, whole, "-w"), build(root, stripped, "-s -w")); err != nil {
		return err
	}

	programs, err := os.ReadDir(stripped)
	if err != nil {
		return err
	}

	fmt.Println("| program | MB | MB compressed | what weighs most (MB of code and data) |\n|---|---|---|---|")
	for _, p := range programs {
		info, err := p.Info()
		if err != nil {
			return err
		}

		parts, err := weigh(filepath.Join(whole, p.Name()))
		if err != nil {
			return err
		}

		packed, err := compressed(filepath.Join(stripped, p.Name()))
		if err != nil {
			return err
		}

		fmt.Printf("| %s | %s | %s | %s |\n", p.Name(), megabytes(info.Size()), megabytes(packed), list(parts, most))
	}

	return nil
}

func build(root, to, flags string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	c := exec.Command("go", "build", "-trimpath", "-ldflags", flags, "-o", to, "./cmd/...")
	c.Dir, c.Stderr = root, os.Stderr
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")

	return c.Run()
}

// A counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// compressed is how many bytes gzip makes of a file, as in an archive for download.
func compressed(file string) (int64, error) {
	in, err := os.Open(file)
	if err != nil {
		return 0, err
	}

	defer in.Close()
	var n counter
	out := gzip.NewWriter(&n)
	_, err = io.Copy(out, in)

	return int64(n), errors.Join(err, out.Close())
}

// weigh sums the sizes of a program's symbols by the part that they are of.
func weigh(program string) (map[string]int64, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}

	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}

	parts := map[string]int64{}
	for _, s := range symbols {
		kind, named := elf.ST_TYPE(s.Info), int(s.Section) < len(f.Sections)
		if (kind == elf.STT_FUNC || kind == elf.STT_OBJECT) && named && f.Sections[s.Section].Type != elf.SHT_NOBITS &&
			s.Name != "runtime.pclntab" {
			parts[part(s.Name)] += int64(s.Size)
		}
	}

	return parts, nil
}

// part is the module, more or less, that a symbol is of.
func part(symbol string) string {
	symbol, _, _ = strings.Cut(symbol, "[")
	for _, made := range []string{"type:.eq.", "type:.hash.", "go:"} {
		symbol = strings.TrimPrefix(symbol, made)
	}

	path := strings.Split(symbol, "/")
	switch {
	case len(path) == 1 || !strings.Contains(path[0], "."):
		return "Go's own packages"
	case strings.HasPrefix(symbol, "github.com/label-state/"):
		return "label-state"
	case (path[0] == "github.com" || path[0] == "golang.org") && len(path) > 2:
		path = path[1:3]
	default:
		path = path[:2]
	}

	name, _, _ := strings.Cut(path[1], ".")
	return path[0] + "/" + name
}

func list(parts map[string]int64, most int) string {
	names := slices.SortedFunc(maps.Keys(parts),
		func(a, b string) int { return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a, b)) })
	var out []string
	for _, name := range names[:min(most, len(names))] {
		if parts[name] < 50_000 {
			break
		}
		out = append(out, name+" "+megabytes(parts[name]))
	}

	return strings.Join(out, ", ")
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }
