package host

import (
	"slices"
	"strings"
)

// An address is a URL without its user, whose name and password no one here needs to see.
type address struct{ scheme, host, port, path string }

// split reads a URL or git's scp form. Its host is valid, but in any case and spelling.
func split(url string) (address, error) {
	if strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return address{}, &NotGitHubError{"it contains a space, a control character or a backslash"}
	}
	scheme, rest, ok := strings.Cut(url, "://")

	// [user@]host:path or [[user@]host:port]:path; as git does, what has no colon before its first
	// slash is a local path, and so is a drive letter before the colon
	if !ok {
		end := strings.IndexByte(url, ':')
		open := strings.IndexByte(url, '[')
		bracketed := open >= 0 && open < end
		if bracketed {
			end = strings.Index(url, "]:") + 1
		}

		if end < 2 || strings.Contains(url[:end], "/") {
			return address{}, &NotGitHubError{"it is a local path"}
		}
		authority := url[:end]
		if bracketed && strings.Count(authority, ":") < 2 { // [user@host:port], no IPv6
			authority = authority[:open] + authority[open+1:end-1]
		}

		return address{scheme: "ssh", path: url[end+1:]}.at(authority)
	}

	a := address{scheme: strings.ToLower(scheme)}
	if !slices.Contains([]string{"https", "http", "ssh", "git+ssh", "ssh+git", "git"}, a.scheme) {
		return address{}, &NotGitHubError{"GitHub does not serve this kind of URL"}
	}

	authority, path, _ := strings.Cut(rest, "/")
	a.path = path
	return a.at(authority)
}

// at returns a with the host and port of "user:password@host:port".
func (a address) at(authority string) (address, error) {
	a.host = authority[strings.LastIndexByte(authority, '@')+1:]
	if colon := strings.LastIndexByte(a.host, ':'); colon > strings.LastIndexByte(a.host, ']') {
		a.host, a.port = a.host[:colon], a.host[colon+1:]
	}

	if !validHost(a.host) || len(a.port) > 5 || strings.Trim(a.port, "0123456789") != "" {
		return address{}, &NotGitHubError{"it names no host"}
	}

	return a, nil
}

// isWeb reports whether the address is one of the web.
func (a address) isWeb() bool { return a.scheme == "https" || a.scheme == "http" }

// webHost returns where the web pages of the host are: only a URL of the web knows their port.
func (a address) webHost() string {
	host := canonical(a.host)
	standard := a.port == "" || a.scheme == "https" && a.port == "443" || a.scheme == "http" && a.port == "80"
	if !a.isWeb() || standard {
		return host
	}
	return host + ":" + a.port
}

// validHost accepts what can stand for a host: a name, an ssh alias, an IP address, IPv6 in
// brackets.
func validHost(s string) bool {
	if ip, ok := strings.CutPrefix(s, "["); ok {
		ip, ok = strings.CutSuffix(ip, "]")
		return ok && ip != "" && strings.Trim(ip, "0123456789abcdefABCDEF:.") == ""
	}

	foreign := func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && r != '-' && r != '_'
	}

	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || label[0] == '-' || strings.ContainsFunc(label, foreign) {
			return false
		}
	}

	return len(s) <= 253
}
