package setup

import (
	"runtime/debug"
	"testing"
	"time"
)

// TestBuilt: what the linker was told counts, then the checkout, then the version of the module.
func TestBuilt(t *testing.T) {
	const whole = "afba77611fa3521dd12279de084e49ed486e70ce"
	at := time.Date(2026, 11, 23, 8, 41, 22, 0, time.UTC)
	checkout := []debug.BuildSetting{
		{Key: "vcs", Value: "git"},
		{Key: "vcs.revision", Value: whole},
		{Key: "vcs.time", Value: "2026-11-23T08:41:22Z"},
		{Key: "vcs.modified", Value: "true"},
	}
	for name, c := range map[string]struct {
		linked   Build
		module   string
		settings []debug.BuildSetting
		want     Build
		release  string
	}{
		"go run":    {Build{Version: "dev"}, "(devel)", nil, Build{Version: "dev"}, ""},
		"no module": {Build{Version: "dev"}, "", nil, Build{Version: "dev"}, ""},
		"a checkout": {
			Build{Version: "dev"},
			"v0.0.0-20261123084122-afba77611fa3+dirty", checkout,
			Build{"v0.0.0-20261123084122-afba77611fa3+dirty", whole, at, true},
			"",
		},
		"a commit": {
			Build{Version: "dev"},
			"v0.0.0-20261123084122-afba77611fa3", nil,
			Build{"v0.0.0-20261123084122-afba77611fa3", "afba77611fa3", at, false},
			"",
		},
		"a commit after a tag": {
			Build{Version: "dev"},
			"v1.2.4-0.20261123084122-afba77611fa3", nil,
			Build{"v1.2.4-0.20261123084122-afba77611fa3", "afba77611fa3", at, false},
			"",
		},
		"a tag": {Build{Version: "dev"}, "v1.4.0", nil, Build{Version: "v1.4.0"}, "v1"},
		"a release": {
			Build{"v1.2.3", whole, at, false},
			"(devel)", nil,
			Build{"v1.2.3", whole, at, false},
			"v1",
		},
		"a release, fetched": {
			Build{"v1.2.3", whole, at, false},
			"v1.4.0", nil,
			Build{"v1.2.3", whole, at, false},
			"v1",
		},
		"a release, and no more": {
			Build{Version: "v2.0.1"},
			"(devel)", checkout,
			Build{"v2.0.1", whole, at, true},
			"v2",
		},
		"before the first": {Build{Version: "v0.9.0"}, "", nil, Build{Version: "v0.9.0"}, ""},
		"a candidate":      {Build{Version: "v1.2.3-rc.1"}, "", nil, Build{Version: "v1.2.3-rc.1"}, ""},
		"git describe": {
			Build{Version: "v1.2.3-4-gafba776"},
			"(devel)", nil,
			Build{Version: "v1.2.3-4-gafba776"},
			"",
		},
	} {
		got := c.linked.noted(&debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings})
		if got != c.want || got.Release() != c.release {
			t.Errorf("%s: %+v, release %q; want %+v, %q", name, got, got.Release(), c.want, c.release)
		}
	}

	if got := Built(Build{Version: "v1.2.3"}); got.Version != "v1.2.3" {
		t.Errorf("Built = %+v, the linker said v1.2.3", got)
	}
}
