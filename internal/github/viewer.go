package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// Viewer returns whose token it is. That of a workflow's own token is github-actions[bot].
func (c *Client) Viewer(ctx context.Context) (string, error) {
	if login := c.known(); login != "" {
		return login, nil
	}

	d := newDocument()
	d.add("  viewer { login }\n")
	var data struct{ Viewer actor }
	_, err := c.ask(ctx, d, &data)
	if err == nil && data.Viewer.Login == "" {
		err = unusable("the login is missing")
	}

	if err != nil {
		return "", fmt.Errorf("read who we are: %w", err)
	}
	c.note(data.Viewer.Login)

	return data.Viewer.Login, nil
}

// self is our own login; without a token there is none.
func (c *Client) self(ctx context.Context) (string, error) {
	if c.o.Token.empty() {
		return "", nil
	}
	return c.Viewer(ctx)
}

// known is whose token it is, as far as that is known.
func (c *Client) known() string {
	login, _ := c.login.Load().(string)
	return login
}

func (c *Client) note(login string) {
	if login != "" {
		c.login.Store(login)
	}
}

// TokenScopes returns the scopes of a classic token. told is false for other kinds of tokens,
// whose permissions GitHub does not list.
func (c *Client) TokenScopes(ctx context.Context) (scopes []string, told bool, err error) {
	header, err := c.Do(ctx, http.MethodGet, "rate_limit", nil, nil)
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
