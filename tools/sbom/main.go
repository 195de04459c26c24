// Command sbom prints what Go programs are made of, as a CycloneDX 1.5 bill of materials
// (https://cyclonedx.org/docs/1.5/json/): the modules that the linker recorded in them, and Go itself.
//
//	sbom NAME VERSION PROGRAM...
//
// The same programs give the same bytes: there is no time and no serial number in it.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom NAME VERSION PROGRAM...")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
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

// A property has what CycloneDX has no field for: the sum of go.sum is over a module's files, not over one file.
type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func write(to io.Writer, name, version string, programs []string) error {
	parts := map[string]component{}
	path := ""
	for _, file := range programs {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return err
		}
		path = info.Main.Path
		std := part("std", strings.TrimPrefix(info.GoVersion, "go"))
		parts[std.Ref] = std
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			c, err := module(m)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", file, m.Path, err)
			}
			parts[c.Ref] = c
		}
	}
	b := bill{Format: "CycloneDX", Spec: "1.5", Version: 1, Components: []component{}}
	b.Metadata.Component = component{Type: "application", Ref: name, Name: name, Version: version, PURL: "pkg:golang/" + path + "@" + version}
	for _, ref := range slices.Sorted(maps.Keys(parts)) {
		b.Components = append(b.Components, parts[ref])
	}
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(b)
}

func part(path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
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
