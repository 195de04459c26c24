package host

import (
	"errors"
	"fmt"
	"strings"
)

// Endpoints are where one GitHub is asked. REST and Web end in a slash, GraphQL is complete.
type Endpoints struct{ REST, GraphQL, Web string }

// API returns the endpoints of host: GitHub's own for github.com and SUBDOMAIN.ghe.com, those of
// GitHub Enterprise Server for any other.
func API(host string) Endpoints {
	host = canonical(host)
	web := "https://" + host + "/"
	if isCloud(host) {
		rest := "https://api." + host + "/"
		return Endpoints{REST: rest, GraphQL: rest + "graphql", Web: web}
	}

	return server(web)
}

// server returns the endpoints of a GitHub Enterprise Server with its pages at web.
func server(web string) Endpoints {
	return Endpoints{REST: web + "api/v3/", GraphQL: web + "api/graphql", Web: web}
}

// FromAPI returns the endpoints that belong to the base URL of a REST API, as GITHUB_API_URL and
// LABEL_STATE_API_URL hold it: https://api.github.com, https://HOST/api/v3, or http(s)://HOST:PORT
// for a server whose API begins at its root. The error repeats nothing of a URL but GitHub's own
// host.
func FromAPI(apiURL string) (Endpoints, error) {
	a, err := split(apiURL)
	if err != nil || !a.isWeb() || strings.Contains(apiURL, "@") {
		return Endpoints{}, errors.New("read API URL: expected http(s)://HOST[:PORT][/api/v3], without user or token")
	}
	if isElsewhere(a.host) {
		return Endpoints{}, errors.New("read API URL: its host is another forge")
	}

	web, path := a.webHost(), strings.Trim(a.path, "/")
	if cloud := canonical(a.host); isCloud(cloud) {
		if web != cloud || path != "" || !strings.EqualFold(a.host, "api."+cloud) {
			return Endpoints{}, fmt.Errorf("read API URL: the API of %s is %s", cloud, API(cloud).REST)
		}
		return API(cloud), nil
	}

	root := a.scheme + "://" + web + "/"
	switch path {
	case "":
		return Endpoints{REST: root, GraphQL: root + "graphql", Web: root}, nil
	case "api/v3":
		return server(root), nil
	}

	return Endpoints{}, errors.New("read API URL: expected no path, or /api/v3")
}

// Host returns the host of the web pages, as a [Remote] of it has it.
func (e Endpoints) Host() string {
	_, host, _ := strings.Cut(strings.TrimSuffix(e.Web, "/"), "://")
	return host
}
