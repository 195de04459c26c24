package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// A viewer is whose token it is.
type viewer struct {
	api *api

	mu    sync.Mutex
	login string // empty until it is known
}

// Viewer returns whose token it is. That of a workflow's own token is github-actions[bot].
func (v *viewer) Viewer(ctx context.Context) (string, error) {
	if login := v.known(); login != "" {
		return login, nil
	}

	var data struct{ Viewer actor }
	_, err := v.api.ask(ctx, "query { viewer { login } }", nil, &data)
	if err == nil && data.Viewer.Login == "" {
		err = &AnswerError{Reason: "the login is missing"}
	}

	if err != nil {
		return "", fmt.Errorf("read who we are: %w", err)
	}
	v.note(data.Viewer.Login)

	return data.Viewer.Login, nil
}

// self is our own login; without a token there is none.
func (v *viewer) self(ctx context.Context) (string, error) {
	if v.api.token.Empty() {
		return "", nil
	}
	return v.Viewer(ctx)
}

func (v *viewer) known() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.login
}

func (v *viewer) note(login string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if login != "" {
		v.login = login
	}
}

// TokenScopes returns the scopes of a classic token. told is false for other kinds of tokens,
// whose permissions GitHub does not list.
func (v *viewer) TokenScopes(ctx context.Context) (scopes []string, told bool, err error) {
	header, err := v.api.Do(ctx, http.MethodGet, "rate_limit", nil, nil)
	if err != nil {
		return nil, false, fmt.Errorf("read token scopes: %w", err)
	}

	values, told := header[http.CanonicalHeaderKey("X-OAuth-Scopes")]
	for _, one := range strings.Split(strings.Join(values, ","), ",") {
		if one = strings.TrimSpace(one); one != "" {
			scopes = append(scopes, one)
		}
	}

	return scopes, told, nil
}
