package outgoing

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/smallfile"
)

// The configuration as the first stage of the hook sees it, which cannot read YAML.
const (
	configFile  = ".github/label-state.yml"
	pullsKey    = "pull_requests" // of hook.pull_requests
	maxSettings = 256 << 10       // config.MaxFile
)

// AsksForPulls reports whether the configuration that is checked out in dir, or the caller's own,
// which may be empty, mentions hook.pull_requests. One that cannot be read does not.
func AsksForPulls(dir, own string) bool {
	data, err := smallfile.Read(filepath.Join(dir, filepath.FromSlash(configFile)), maxSettings)
	if err == nil && bytes.Contains(data, []byte(pullsKey)) {
		return true
	}
	if own == "" {
		return false
	}

	if !filepath.IsAbs(own) {
		own = filepath.Join(dir, own)
	}
	data, err = smallfile.Follow(own, maxSettings)

	return err == nil && bytes.Contains(data, []byte(pullsKey))
}

// Branches are the branches that are pushed, without refs/heads/.
func Branches(updates []Update) []string {
	var out []string
	for _, u := range updates {
		if name, ok := strings.CutPrefix(u.RemoteRef, "refs/heads/"); ok && !u.Delete() {
			out = append(out, name)
		}
	}

	return out
}
