// Command sbom writes what the programs of an archive (.tar.gz or .zip) are made of, as a CycloneDX
// 1.5 bill of materials (https://cyclonedx.org/docs/1.5/json/): the modules that the linker
// recorded in them, and Go itself.
//
//	sbom NAME VERSION ARCHIVE BILL
//
// The same programs give the same bytes: there is no time and no serial number in it.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: sbom NAME VERSION ARCHIVE BILL")
		os.Exit(2)
	}

	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(name, version, archive, to string) error {
	unpack := untar
	if path.Ext(archive) == ".zip" {
		unpack = unzip
	}

	programs, err := read(archive, name, unpack)
	if err != nil {
		return fmt.Errorf("read %s: %w", archive, err)
	}

	text, err := draw(name, version, programs)
	if err != nil {
		return fmt.Errorf("read %s: %w", archive, err)
	}

	return os.WriteFile(to, text, 0o644)
}

// An unpacker hands out the regular files of an archive in their order.
type unpacker func(archive string, each func(name string, text []byte) error) error

func untar(archive string, each func(name string, text []byte) error) error {
	in, err := os.Open(archive)
	if err != nil {
		return err
	}

	defer in.Close()
	plain, err := gzip.NewReader(in)
	if err != nil {
		return err
	}

	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}

		if header.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}

		if err := each(header.Name, text); err != nil {
			return err
		}
	}
}

func unzip(archive string, each func(name string, text []byte) error) error {
	in, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}

	defer in.Close()
	for _, file := range in.File {
		text, err := fs.ReadFile(in, file.Name)
		if err != nil {
			return err
		}
		if err := each(file.Name, text); err != nil {
			return err
		}
	}

	return nil
}

// read returns what the linker recorded in the programs of an archive: the files that are called
// name or name-SOMETHING, with .exe or without.
func read(archive, name string, unpack unpacker) ([]*debug.BuildInfo, error) {
	var programs []*debug.BuildInfo
	err := unpack(archive, func(entry string, text []byte) error {
		file := strings.TrimSuffix(path.Base(entry), ".exe")
		if file != name && !strings.HasPrefix(file, name+"-") {
			return nil
		}

		info, err := buildinfo.Read(bytes.NewReader(text))
		if err != nil {
			return fmt.Errorf("%s: %w", entry, err)
		}
		programs = append(programs, info)

		return nil
	})

	return programs, err
}

// A bill is the document.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

// A property has what CycloneDX has no field for: the sum of go.sum is over a module's files, not
// over one file.
type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// draw returns the bill of programs that are linked with the modules of one main module.
func draw(name, version string, programs []*debug.BuildInfo) ([]byte, error) {
	if len(programs) == 0 {
		return nil, errors.New("no program in it")
	}
	parts := map[string]component{}
	for _, info := range programs {
		std := part("std", strings.TrimPrefix(info.GoVersion, "go"))
		parts[std.Ref] = std
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			c, err := module(m)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", info.Path, m.Path, err)
			}

			parts[c.Ref] = c
		}
	}

	main := component{
		Type:    "application",
		Ref:     name,
		Name:    name,
		Version: version,
		PURL:    "pkg:golang/" + programs[0].Main.Path + "@" + version,
	}

	b := bill{
		Format:     "CycloneDX",
		Spec:       "1.5",
		Version:    1,
		Metadata:   metadata{main},
		Components: []component{},
	}

	for _, ref := range slices.Sorted(maps.Keys(parts)) {
		b.Components = append(b.Components, parts[ref])
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", "  ")
	err := e.Encode(b)

	return text.Bytes(), err
}

func part(path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{
		Type:    "library",
		Ref:     purl,
		Name:    path,
		Version: version,
		PURL:    purl,
	}
}

// module is a component with its sum, in hexadecimal as hashes are in CycloneDX.
func module(m *debug.Module) (component, error) {
	c := part(m.Path, m.Version)
	if m.Sum == "" {
		return c, nil
	}

	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil {
		return c, fmt.Errorf("sum %q: %w", m.Sum, err)
	}

	c.Properties = []property{{"go.sum:h1", hex.EncodeToString(sum)}}
	return c, nil
}
