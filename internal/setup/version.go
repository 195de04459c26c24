package setup

import (
	"regexp"
	"runtime/debug"
	"time"
)

// A Build is what is known of how this program was built. The zero value is nothing.
type Build struct {
	// v1.2.3 of a release, the version of the module, or dev
	Version string `json:"version"`
	// of the sources: 40 hexadecimal digits, or the first 12 of them; empty when nobody knows
	Commit  string    `json:"commit,omitempty"`
	Date    time.Time `json:"date,omitzero"`     // of the commit, in UTC; zero when nobody knows
	Changed bool      `json:"changed,omitempty"` // the sources had changes that are in no commit
}

// Built completes what the linker was told by what Go notes in a program: the module that "go
// install module@version" has fetched, or the checkout that it was built in. linked.Version is
// "dev" when the linker was told nothing.
func Built(linked Build) Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return linked
	}
	return linked.noted(info)
}

// snapshot is the end of a module's version that stands for a commit: its time in UTC and the first
// digits of its name.
var snapshot = regexp.MustCompile(`[-.](\d{14})-([0-9a-f]{12})$`)

// noted adds what Go has noted. What the linker was told counts.
func (b Build) noted(info *debug.BuildInfo) Build {
	module := info.Main.Version
	if b.Version == "dev" && module != "" && module != "(devel)" {
		b.Version = module
	}

	if b.Commit != "" {
		return b
	}

	if m := snapshot.FindStringSubmatch(module); m != nil {
		b.Commit = m[2]
		b.Date, _ = time.Parse("20060102150405", m[1])
	}

	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date, _ = time.Parse(time.RFC3339, s.Value)
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}

	return b
}

// release is a version of a release, with its major number.
var release = regexp.MustCompile(`^(v[0-9]+)\.[0-9]+\.[0-9]+$`)

// Release is the major version of a release, such as v1; empty for every other build.
func (b Build) Release() string {
	m := release.FindStringSubmatch(b.Version)
	if m == nil || m[1] == "v0" {
		return ""
	}
	return m[1]
}
