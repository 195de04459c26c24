// Package githubsim is a GitHub small enough to run inside a test.
//
// It speaks REST, GraphQL and git's smart HTTP over one store that remembers its past, so that a
// read can be answered from a moment ago. Its clock is time.Now, read once a request: inside a
// testing/synctest bubble it is virtual. It has two doors: Transport serves in the caller's
// goroutine and starts none that outlives the request; Listen serves real processes on loopback.
package githubsim

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a server needs beyond its seed.
type Options struct {
	// Dir is where bare git repositories are made, one folder each. Empty: the repositories have no
	// git, and whatever needs it answers as an empty repository does.
	Dir string
	// RequestLog, if given, gets one JSON object a line for every request.
	RequestLog io.Writer
	// RateLimit is how many REST requests, and how many GraphQL points, a token has an hour. 0
	// means GitHub's own limits: 5000, 1000 for an app's token, 60 without a token.
	RateLimit int
	// SecondaryLimits has GitHub's published secondary limits enforced, for each account: requests
	// at once, points a minute, and content created in a minute and in an hour. Who is too fast is
	// told for how long to stay away.
	SecondaryLimits bool
}

// A Server is one simulated GitHub. Its methods may be called from any goroutine.
type Server struct {
	// Fault, if set before the first request, is asked once for every request what shall go wrong;
	// nil means nothing. It is called from the goroutines that make requests, may read the body and
	// may call the server's methods.
	Fault func(*http.Request) *Fault
	// GraphQLOff, if set before the first request, makes /graphql answer 404.
	GraphQLOff bool

	options Options
	graphQL *executor
	routes  []route

	mu   sync.Mutex // guards what follows
	st   *store
	late []lateRequest
	log  []Request

	ahead atomic.Int64 // nanoseconds that the clock is in front of the machine's; negative if it is behind
}

// New returns a server that holds what the seed describes.
func New(seed Seed, options Options) (*Server, error) {
	s := &Server{options: options, st: newStore(time.Now())}
	s.setBase("https://api.github.com", "https://github.com")
	s.routes = restRoutes()
	var err error
	if s.graphQL, err = graphQL(); err != nil {
		return nil, fmt.Errorf("parse GraphQL schema: %w", err)
	}
	if err := s.st.plant(context.Background(), seed, options.Dir); err != nil {
		return nil, fmt.Errorf("plant seed: %w", err)
	}

	return s, nil
}

// setBase says under which addresses the server is known.
func (s *Server) setBase(api, web string) {
	s.st.api, s.st.web = api, web
}

// Skip puts the server's clock forward, as if that much time had passed here and nowhere else, or
// back if d is negative. What was asked to be applied late is due after as much time as before.
func (s *Server) Skip(d time.Duration) {
	if d < 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		for n := range s.late {
			if !s.late[n].due.IsZero() {
				s.late[n].due = s.late[n].due.Add(d)
			}
		}

		s.st.journal.setBack(d)
	}

	s.ahead.Add(int64(d))
}

func (s *Server) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// lock starts a transaction: it takes the lock, reads the clock and applies what is due by now. The
// function it returns ends the transaction.
func (s *Server) lock() (unlock func()) {
	s.mu.Lock()
	now := s.now()
	s.applyDue(now)
	s.begin(now)
	return s.mu.Unlock
}

func (s *Server) begin(at time.Time) {
	s.st.moment = clock(at)
	s.st.journal.begin(at)
}
