package host_test

import (
	"slices"
	"testing"

	"github.com/label-state/label-state/internal/host"
)

func TestAPI(t *testing.T) {
	cloud := host.Endpoints{
		REST: "https://api.github.com/", GraphQL: "https://api.github.com/graphql",
		Web: "https://github.com/",
	}
	tenant := host.Endpoints{
		REST: "https://api.octo.ghe.com/", GraphQL: "https://api.octo.ghe.com/graphql",
		Web: "https://octo.ghe.com/",
	}
	for name, want := range map[string]host.Endpoints{
		"github.com": cloud, "GitHub.com": cloud, "ssh.github.com": cloud, "octo.ghe.com": tenant,
		"ghe.example": {
			REST: "https://ghe.example/api/v3/", GraphQL: "https://ghe.example/api/graphql",
			Web: "https://ghe.example/",
		},
		"ghe.example:8443": {
			REST:    "https://ghe.example:8443/api/v3/",
			GraphQL: "https://ghe.example:8443/api/graphql", Web: "https://ghe.example:8443/",
		},
		"github.com.evil.example": {
			REST:    "https://github.com.evil.example/api/v3/",
			GraphQL: "https://github.com.evil.example/api/graphql", Web: "https://github.com.evil.example/",
		},
	} {
		if got := host.API(name); got != want {
			t.Errorf("API(%q) = %+v, want %+v", name, got, want)
		}
	}
}

func TestFromAPI(t *testing.T) {
	sim := host.Endpoints{
		REST: "http://127.0.0.1:38211/", GraphQL: "http://127.0.0.1:38211/graphql",
		Web: "http://127.0.0.1:38211/",
	}
	ghes := host.API("ghe.example")
	onPort := host.Endpoints{
		REST: "http://ghe.example:8080/api/v3/", GraphQL: "http://ghe.example:8080/api/graphql",
		Web: "http://ghe.example:8080/",
	}
	for url, want := range map[string]host.Endpoints{
		"https://api.github.com": host.API("github.com"), "https://api.github.com/": host.API("github.com"),
		"http://API.GitHub.com:80/": host.API("github.com"), "https://api.octo.ghe.com": host.API("octo.ghe.com"),
		"http://127.0.0.1:38211": sim, "http://127.0.0.1:38211/": sim,
		"https://ghe.example/api/v3": ghes, "https://GHE.example:443/api/v3/": ghes,
		"http://ghe.example:8080/api/v3": onPort,
	} {
		got, err := host.FromAPI(url)
		if err != nil || got != want {
			t.Errorf("FromAPI(%q) = %+v, %v, want %+v", url, got, err, want)
		}
	}
}

func TestFromAPIRefuses(t *testing.T) {
	for _, url := range []string{
		"", "api.github.com", "https://", "/api/v3", "ftp://api.github.com", "ssh://git@github.com/",
		"git@github.com:api",
		"https://github.com", "https://github.com/api/v3", "https://octo.ghe.com", "https://api.github.com/api/v3",
		"https://api.github.com:8443", "https://uploads.github.com", "https://api.github.com/graphql",
		"https://ghe.example/api/graphql",
		"https://ghe.example/api/v4", "https://ghe.example/?token=secret", "https://ghe.example/api/v3?",
		"https://ghe.example/api/v3#", "https://ghe.example/#secret", "https://ghe.example?secret",
		"https://ann:secret@ghe.example/api/v3", "https://secret@api.github.com",
		"https://gitlab.com/api/v3", "https://ghe.example/api v3", "https://ghe.example/secret\n",
	} {
		e, err := host.FromAPI(url)
		if err == nil || e != (host.Endpoints{}) {
			t.Errorf("FromAPI(%q) = %+v, %v, want an error", url, e, err)
		}
		silent(t, url, err)
	}
}

func TestTokenVariables(t *testing.T) {
	cloud := []string{"GH_TOKEN", "GITHUB_TOKEN"}
	server := []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
	for name, want := range map[string][]string{
		"github.com": cloud, "GITHUB.com": cloud, "api.github.com": cloud, "octo.ghe.com": cloud,
		"api.octo.ghe.com": cloud,
		"ghe.example":      server, "127.0.0.1:38211": server, "evilgithub.com": server,
		"github.com.evil.example": server,
		"xghe.com":                server, "ghe.com": server, "github.com:8443": server, "": server,
	} {
		if got := host.TokenVariables(name); !slices.Equal(got, want) {
			t.Errorf("TokenVariables(%q) = %v, want %v", name, got, want)
		}
	}
}

func FuzzFromAPI(f *testing.F) {
	for _, url := range []string{
		"https://api.github.com", "https://ghe.example/api/v3/", "http://127.0.0.1:80",
		"http://[::1]:8080",
	} {
		f.Add(url)
	}

	f.Fuzz(func(t *testing.T, url string) {
		_, err := host.FromAPI("https://ann:secret@" + url)
		silent(t, "secret", err)
		e, err := host.FromAPI(url)
		if err != nil {
			return
		}

		again, err := host.FromAPI(e.REST)
		if err != nil || again != e {
			t.Errorf("%q gives %+v, and its REST base %+v, %v", url, e, again, err)
		}
	})
}
