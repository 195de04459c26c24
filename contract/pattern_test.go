package contract

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A pattern is a path with {parameters}, in segments.
type pattern []string

// splitPath cuts a path at its slashes and takes the escapes out afterwards.
func splitPath(escaped string) []string {
	parts := strings.Split(escaped, "/")
	for i, part := range parts {
		if plain, err := url.PathUnescape(part); err == nil {
			parts[i] = plain
		}
	}
	return parts
}

// greedy reports whether a parameter may hold slashes, which the description does not say and the reference does.
func greedy(name string) bool {
	return strings.HasSuffix(name, "...") || slices.Contains([]string{"ref", "path", "branch"}, name)
}

// match returns the parameters of a path that fits.
func (p pattern) match(parts []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, part := range p {
		if i >= len(parts) {
			return nil, false
		}
		name, isParam := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
		switch {
		case isParam && i == len(p)-1 && greedy(name):
			params[name] = strings.Join(parts[i:], "/")
			return params, true
		case isParam:
			params[name] = parts[i]
		case part != parts[i]:
			return nil, false
		}
	}
	return params, len(p) == len(parts)
}

// wild is how many segments are parameters: the pattern with the fewest is meant.
func (p pattern) wild() int {
	return len(slices.DeleteFunc(slices.Clone(p), func(part string) bool { return !strings.HasPrefix(part, "{") }))
}

// TestPattern: what fits, and what the parameters are.
func TestPattern(t *testing.T) {
	for _, c := range []struct{ pattern, path, param, want string }{
		{"/repos/{owner}/{repo}/labels/{name}", "/repos/a/b/labels/area%2Fui", "name", "area/ui"},
		{"/repos/{owner}/{repo}/git/ref/{ref}", "/repos/a/b/git/ref/heads/x/y", "ref", "heads/x/y"},
		{"/repos/{owner}/{repo}/labels", "/repos/a/b/labels/x", "", "no"},
		{"/repos/{owner}/{repo}/labels/{name}", "/repos/a/b/labels", "", "no"},
	} {
		params, fits := pattern(strings.Split(c.pattern, "/")).match(splitPath(c.path))
		if fits == (c.want == "no") || params[c.param] != strings.TrimPrefix(c.want, "no") {
			t.Errorf("%s of %s: %v %v, want %s = %q", c.pattern, c.path, fits, params, c.param, c.want)
		}
	}
}
