package simulation

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// A wire carries the requests of one process to GitHub, or does not.
type wire struct {
	*actor
	process int
	next    http.RoundTripper
}

type faultKey struct{}

// faultOf is what a wire has decided about a request, for the server to do.
func faultOf(r *http.Request) *githubsim.Fault {
	f, _ := r.Context().Value(faultKey{}).(*githubsim.Fault)
	return f
}

// RoundTrip implements http.RoundTripper. A process that dies in it never returns: its goroutine
// ends here.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := sent(r)
	if err != nil {
		return nil, err
	}

	reads := r.Method == http.MethodGet
	if reads { // asked side by side: each has a moment of its own, the same in every run
		h := fnv.New32a()
		h.Write([]byte(r.URL.RequestURI()))
		time.Sleep(time.Duration(1+h.Sum32()%1_000_000) * time.Nanosecond)
	}

	f := w.weather().draw(w.rng)
	if reads { // a goroutine that ends here would not end its process
		f.dies, f.diesLate = false, false
	}

	w.suspend(f.before)
	if err := w.sleep(r.Context(), f.there); err != nil {
		w.note("%s: not sent: %v", describe(r, body), err)
		return nil, err
	}

	if f.dies {
		w.note("%s: dies before", describe(r, body))
		runtime.Goexit()
	}

	w.jump()
	f.fault.StaleGap = w.hidden(f.fault.StaleFor)
	post := w.posting(r, body)
	resp, err := w.next.RoundTrip(r.WithContext(context.WithValue(r.Context(), faultKey{}, &f.fault)))
	w.born(r, body)
	w.turned(r, body, resp)
	w.givenBack(r, body)
	w.note("%s: %s%s", describe(r, body), outcome(resp, err), f.fault.StaleFor.String())
	if f.diesLate {
		post.lost()
		runtime.Goexit()
	}

	if late := w.sleep(r.Context(), f.back); late != nil {
		post.lost()
		return nil, late
	}

	w.suspend(f.after)
	post.answered(resp, err, f.fault.Truncate)
	return resp, err
}

// mostSetBack is how far a clock of GitHub's may be behind: the machines that answer agree no
// better than by their time service.
const mostSetBack = 3 * time.Second

// jump sets GitHub's clock back at some requests, and right again at later ones.
func (w *wire) jump() {
	if !w.jumps || w.quiet || w.rng.Float64() > 0.05 {
		return
	}
	w.mu.Lock()
	by := w.setBack
	if w.setBack = 0; by == 0 {
		w.setBack = span(w.rng, mostSetBack)
		by = -w.setBack
	}

	w.mu.Unlock()
	w.server.Skip(by)
	w.note("GitHub's clock jumps by %s", by)
}

// suspend is the machine asleep: no deadline wakes it.
func (w *wire) suspend(d time.Duration) {
	if d > time.Second {
		_ = w.sleep(context.Background(), d) // it has no end but its own
	}
}

func sent(r *http.Request) (string, error) {
	if r.Body == nil {
		return "", nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return string(body), err
}

// describe names a request on one line of the history.
func describe(r *http.Request, body string) string {
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		return fmt.Sprintf("query of %d bytes", len(body))
	}
	return r.Method + " " + r.URL.RequestURI() + " " + body
}

func outcome(resp *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	return resp.Status
}

// refused reports whether the answer to a mutation has errors. Its body can be read again.
func refused(resp *http.Response) bool {
	body, _ := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte(`"errors":[`))
}

// A post is one request for one record.
type post struct {
	*wire
	key word
}

// A word is what one process says of one worker's hold: one record of one kind. Who ends several
// holds, one after the other, signs each time with another name.
type word struct {
	actor   string
	process int
	kind    claim.Kind
	issue   int
	worker  claim.Worker
	nonce   string
	by      string
}

// posting notes that a record is on its way.
func (w *wire) posting(r *http.Request, body string) post {
	n, text, ok := w.commented(r, body)
	record, is, err := claim.Decode(text)
	if !ok || !is || err != nil || r.Method != http.MethodPost {
		return post{}
	}

	p := post{wire: w, key: word{w.name, w.process, record.Kind, n, record.Worker, record.Nonce, record.By}}
	w.mu.Lock()
	w.tries[p.key]++
	w.mu.Unlock()
	w.swept(n, record)

	return p
}

// commented is the issue whose comments a request is about, and the text of the one that it posts.
func (w *world) commented(r *http.Request, body string) (number int, text string, ok bool) {
	var sent struct {
		Query, Body string
		Variables   struct{ V0, V1 any }
	}
	_ = json.Unmarshal([]byte(body), &sent) // a request without a body says nothing
	if strings.Contains(sent.Query, "addComment(") {
		number, ok = w.numbered(fmt.Sprint(sent.Variables.V0))
		return number, fmt.Sprint(sent.Variables.V1), ok
	}

	_, rest, found := strings.Cut(r.URL.Path, "/issues/")
	rest, whole := strings.CutSuffix(rest, "/comments")
	number, err := strconv.Atoi(rest)
	return number, sent.Body, found && whole && err == nil
}

// numbered is the issue of a global id.
func (w *world) numbered(node string) (number int, ok bool) {
	id, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(node, "I_kw"))
	for n := 1; err == nil && n < 1000; n++ {
		if i, none := w.server.Issue(app, n); none == nil && string(id) == fmt.Sprintf("I:%d", i.ID) {
			return n, true
		}
	}

	return 0, false
}

// lost is a post of which the process never heard again.
func (p post) lost() {
	if p.wire == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unheard[p.key]++
}

// answered is a post whose answer arrived, such as it is.
func (p post) answered(resp *http.Response, err error, cut int) {
	switch {
	case p.wire == nil:
	case err != nil || cut > 0 || resp.StatusCode >= http.StatusInternalServerError:
		p.lost()
	case resp.StatusCode == http.StatusCreated || resp.StatusCode == http.StatusOK && !refused(resp):
		p.mu.Lock()
		defer p.mu.Unlock()
		first, again := p.spoken[p.key]
		p.spoken[p.key] = time.Now()
		p.heard[p.key]++
		switch {
		case again && p.key.by != "" && time.Since(first) < p.weather().stale: // a later try could not see the first
			p.unheard[p.key]++
		case again:
			p.breach("%s said %s of %s twice and heard both answers", p.name, p.key.kind, p.key.worker)
		}
	}
}
