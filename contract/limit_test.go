package contract

import (
	"net/http"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestLimits: the limits that cannot be met elsewhere without doing harm, as GitHub's page on rate limits has them.
func TestLimits(t *testing.T) {
	t.Run("secondary", func(t *testing.T) {
		f := simulated(t)
		f.sim.Fault = func(*http.Request) *githubsim.Fault { limit := githubsim.SecondaryLimit(60); return &limit }
		r := f.send(t, "POST ~/issues/1/comments", object{"body": "too fast"}).is(t, 403, "secondary rate limit")
		if r.header.Get("Retry-After") != "60" || r.at("documentation_url") == nil {
			t.Errorf("it was refused with %v %s", r.header, r.text)
		}
	})
	t.Run("secondary, as 429", func(t *testing.T) { // "403 or 429": "Rate limits for the REST API"
		f := simulated(t)
		fault, err := githubsim.ParseFault("secondary=60/429")
		if err != nil {
			t.Fatal(err)
		}
		f.sim.Fault = fault
		if r := f.send(t, "POST ~/issues/1/comments", object{"body": "too fast"}).is(t, 429, "secondary rate limit"); r.header.Get("Retry-After") != "60" {
			t.Errorf("it was refused with %v", r.header)
		}
	})
	t.Run("too quickly, as 422", func(t *testing.T) { // no page has it; users report it, as in whatwg/spec-factory#55
		f := simulated(t)
		f.sim.Fault = func(*http.Request) *githubsim.Fault { limit := githubsim.TooQuickly(); return &limit }
		r := f.send(t, "POST ~/issues/1/comments", object{"body": "too fast"}).is(t, 422, "Validation Failed", "submitted too quickly")
		if r.header.Get("Retry-After") != "" {
			t.Errorf("it was refused with %v", r.header)
		}
	})
	t.Run("rest", func(t *testing.T) {
		f := simulated(t)
		f.sim.SetRateLimit("wes", "core", 1)
		f.send(t, "GET ~", nil).is(t, 200)
		r := f.send(t, "GET ~", nil).is(t, 403, "API rate limit exceeded for user ID")
		if r.header.Get("X-RateLimit-Remaining") != "0" || r.header.Get("Retry-After") != "" {
			t.Errorf("it was refused with %v", r.header)
		}
		f.send(t, "GET /rate_limit", nil).is(t, 200)
		f.query(t, "{ viewer { login } }", nil).is(t, 200, `"login"`)
	})
	t.Run("graphql", func(t *testing.T) {
		f := simulated(t)
		f.sim.SetRateLimit("wes", "graphql", 0)
		r := f.query(t, "{ viewer { login } }", nil).is(t, 200, `"RATE_LIMIT"`, `"graphql_rate_limit"`)
		if r.header.Get("X-RateLimit-Remaining") != "0" || r.header.Get("X-RateLimit-Resource") != "graphql" {
			t.Errorf("it was refused with %v", r.header)
		}
		f.send(t, "GET ~", nil).is(t, 200)
	})
}
