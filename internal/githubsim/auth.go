package githubsim

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// GitHub's limits by the hour: of a user's token, of a workflow's token, and without one.
const (
	userLimit      = 5000
	workflowLimit  = 1000
	anonymousLimit = 60
)

// authenticate finds who makes the request. A token that nobody has is a refusal.
func (st *store) authenticate(r *http.Request) (actor, error) {
	value := r.Header.Get("Authorization")
	if value == "" {
		return actor{token: st.tokens[""]}, nil
	}

	secret := ""
	if _, password, ok := r.BasicAuth(); ok {
		secret = password
	} else if kind, rest, _ := strings.Cut(value, " "); strings.EqualFold(kind, "bearer") ||
		strings.EqualFold(kind, "token") {
		secret = strings.TrimSpace(rest)
	}

	known := st.tokens[secret]
	if secret == "" || known == nil {
		return actor{}, &refusal{status: http.StatusUnauthorized, message: "Bad credentials"}
	}

	return actor{account: known.account, token: known}, nil
}

// A budget is a token's primary rate limit for one kind of request.
type budget struct {
	limit, used int
	reset       time.Time
}

// limit is how much the token has by the hour if the options do not say.
func (t *token) limit() int {
	switch {
	case t.account == nil:
		return anonymousLimit
	case t.account.kind == "Bot":
		return workflowLimit
	}

	return userLimit
}

// budget returns the token's budget for the resource, fresh if its hour is over. limit 0 is
// GitHub's own.
func (t *token) budget(resource string, limit int, now time.Time) *budget {
	b := t.budgets[resource]
	if b == nil {
		b = &budget{limit: cmp.Or(limit, t.limit())}
		t.budgets[resource] = b
	}

	if !now.Before(b.reset) {
		b.used, b.reset = 0, now.Add(time.Hour)
	}

	return b
}

func (b *budget) remaining() int { return max(0, b.limit-b.used) }

func (b *budget) header(h http.Header, resource string) {
	h.Set("X-RateLimit-Limit", fmt.Sprint(b.limit))
	h.Set("X-RateLimit-Remaining", fmt.Sprint(b.remaining()))
	h.Set("X-RateLimit-Used", fmt.Sprint(b.used))
	h.Set("X-RateLimit-Reset", fmt.Sprint(b.reset.Unix()))
	h.Set("X-RateLimit-Resource", resource)
}

func (b *budget) json(resource string) object {
	return object{
		"limit": b.limit, "used": b.used, "remaining": b.remaining(), "reset": b.reset.Unix(),
		"resource": resource,
	}
}

// SetRateLimit leaves a login's tokens that many REST requests, or GraphQL points, until their hour
// is over. resource is core or graphql.
func (s *Server) SetRateLimit(login, resource string, remaining int) {
	defer s.lock()()
	for _, t := range s.st.tokens {
		if t.account != nil && strings.EqualFold(t.account.login, login) {
			b := t.budget(resource, s.options.RateLimit, s.st.moment)
			b.limit = max(b.limit, remaining)
			b.used = b.limit - remaining
		}
	}
}
