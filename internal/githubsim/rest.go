package githubsim

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// A call is one API request with everything that is known about it.
type call struct {
	*store
	server *Server
	r      *http.Request
	header http.Header // of the answer
	path   string      // of the endpoint, still escaped
	params map[string]string
	who    actor
	view   view // what the request sees
	past   view // what a read sees, if the fault says so
	unseen bool // what it names is not seen yet, if the fault says so
	cost   int  // of a GraphQL document, in points
	meter  *meter
}

// An answer is a status and what to send as JSON.
type answer struct {
	status int
	body   any
}

func ok(body any) (answer, error) { return answer{http.StatusOK, body}, nil }

func created(body any) (answer, error) { return answer{http.StatusCreated, body}, nil }

func nothing() (answer, error) { return answer{status: http.StatusNoContent}, nil }

// serveAPI answers a REST or GraphQL request. The lock is held.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, fault Fault) {
	c := &call{
		store:  s.st,
		server: s,
		r:      r,
		header: w.Header(),
		view:   present(),
		past:   fault.view(&s.st.journal),
		unseen: fault.Unseen,
		meter:  newMeter(fault),
	}
	c.header.Set("Content-Type", "application/json; charset=utf-8")
	c.header.Set("Date", s.st.moment.Format(http.TimeFormat))
	c.header.Set("Server", "github.com")
	c.header.Set("X-GitHub-Media-Type", "github.v3; format=json")
	c.header.Set("X-GitHub-Request-Id", fmt.Sprintf("%04X:%06X", len(s.log), len(s.st.journal.times)))
	who, err := s.st.authenticate(r)
	if err != nil {
		c.refuse(w, err)
		return
	}

	c.who = who
	if who.token.classic {
		c.header.Set("X-OAuth-Scopes", strings.Join(who.token.scopes, ", "))
	}

	path := apiPath(r.URL.EscapedPath())
	if path == "/graphql" {
		s.serveGraphQL(w, c)
		return
	}

	s.serveREST(w, c, path)
}

// serveREST spends one request of the budget and routes.
func (s *Server) serveREST(w http.ResponseWriter, c *call, path string) {
	b := c.who.token.budget("core", s.options.RateLimit, s.st.moment)
	if b.remaining() == 0 && path != "/rate_limit" {
		b.header(c.header, "core")
		c.refuse(w, &refusal{status: http.StatusForbidden, message: c.exceeded()})
		return
	}

	c.path = c.present(path)
	c.deprecate()
	if c.reads() {
		c.view = c.past
	}

	if path != "/rate_limit" {
		b.used++
	}
	b.header(c.header, "core")
	c.serve(w, c.route(c.path))
	if rec, ok := w.(*recorder); ok && rec.status == http.StatusNotModified && c.who.account != nil {
		b.used--
		b.header(c.header, "core")
	}
}

// oldVersion is the version of the API that a request gets which names none. GitHub announced its
// end on 2026-03-10.
const oldVersion = "2022-11-28"

// deprecate announces the end of the old version, also beside the links to other pages.
func (c *call) deprecate() {
	version := cmp.Or(c.r.Header.Get("X-GitHub-Api-Version"), oldVersion)
	c.header.Set("X-GitHub-Api-Version-Selected", version)
	if version != oldVersion {
		return
	}

	c.header.Set("Deprecation", "Tue, 10 Mar 2026 00:00:00 GMT")
	c.header.Set("Sunset", "Fri, 10 Mar 2028 00:00:00 GMT")
	c.header.Set("Link", `<https://docs.github.com/en/rest/about-the-rest-api/api-versions>; rel="deprecation"; type="text/html"`)
}

func (c *call) exceeded() string {
	if c.who.account == nil {
		return "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit.)"
	}
	return fmt.Sprintf("API rate limit exceeded for user ID %d.", c.who.account.id)
}

// present turns /repositories/ID/… into the repository's address of today.
func (c *call) present(path string) string {
	rest, byID := strings.CutPrefix(path, "/repositories/")
	if !byID {
		return path
	}

	id, tail, _ := strings.Cut(rest, "/")
	number, err := strconv.ParseInt(id, 10, 64)
	r := c.repositoryByID(number)
	if err != nil || r == nil {
		return path
	}

	return strings.TrimSuffix("/repos/"+r.fullName()+"/"+tail, "/")
}

// An endpoint answers one kind of REST request.
type endpoint func(*call) (answer, error)

func (c *call) serve(w http.ResponseWriter, e endpoint) {
	a, err := e(c)
	if err != nil {
		c.refuse(w, err)
		return
	}
	c.send(w, a)
}

// send writes the answer, or 304 where the client has it already.
func (c *call) send(w http.ResponseWriter, a answer) {
	if a.body == nil {
		c.header.Del("Content-Type")
		w.WriteHeader(a.status)
		return
	}

	text, err := c.encode(a.body)
	if err != nil {
		c.refuse(w, err)
		return
	}

	if a.status == http.StatusOK && c.reads() {
		tag := c.etag(text)
		c.header.Set("ETag", tag)
		c.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
		c.header.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, Accept, X-Requested-With")
		if matches(c.r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}

	w.WriteHeader(a.status)
	_, _ = w.Write(text) // into memory
}

// encode is the body as JSON; raw text stays as it is.
func (c *call) encode(body any) ([]byte, error) {
	if raw, ok := body.(rawText); ok {
		c.header.Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
		return raw, nil
	}
	return json.Marshal(body)
}

func (c *call) reads() bool { return c.r.Method == http.MethodGet || c.r.Method == http.MethodHead }

// etag differs between tokens, as GitHub's does.
func (c *call) etag(text []byte) string {
	sum := sha256.New()
	sum.Write([]byte(c.r.Header.Get("Authorization") + "\x00" + c.header.Get("Link") + "\x00"))
	sum.Write(text)
	return fmt.Sprintf(`W/"%x"`, sum.Sum(nil))
}

func matches(header, tag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		if strings.TrimPrefix(strings.TrimSpace(candidate), "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// refuse writes an error as GitHub words it. What is not a refusal is a 500.
func (c *call) refuse(w http.ResponseWriter, err error) {
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{status: http.StatusInternalServerError, message: err.Error()}
	}

	body := object{
		"message": r.message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(r.status),
	}

	if r.errors != nil {
		body["errors"] = r.errors
	}
	status := r.status
	if r.moved != "" {
		target := c.api + r.moved + c.tail()
		c.header.Set("Location", target)
		body["url"] = target
	}

	if r.renamed && !c.reads() {
		status = http.StatusTemporaryRedirect
		body["status"] = strconv.Itoa(status)
	}

	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // plain strings into memory
}

// decode reads the request's JSON body into a value; without a body the value stays as it is.
func (c *call) decode(into any) error {
	err := json.NewDecoder(c.r.Body).Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case errors.As(err, &wrong):
		return unprocessable(fmt.Sprintf("Invalid request.\n\nFor '%s', %s is not of the right type.", wrong.Field,
			wrong.Value))
	default:
		return &refusal{status: http.StatusBadRequest, message: "Problems parsing JSON"}
	}
}
