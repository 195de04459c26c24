package claim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NoExpiry is the TTL of a claim that only an explicit release ends.
const NoExpiry time.Duration = -1

// A Record is one line of an issue's log. Zero values are left out when it is written.
type Record struct {
	Kind   Kind
	Worker Worker
	// claim: random, one process's; finds its post again after a lost answer. release: ends that
	// process's bid alone
	Nonce     string
	Resumes   string        // claim: nonce of the process whose hold this one takes over
	TTL       time.Duration // lease length; 0 is the repository's default, NoExpiry never expires
	Held      bool          // state=held: the claim was confirmed
	Heartbeat int64         // hb: how often it was renewed
	Token     int64         // fencing token, 0 while not yet recorded
	Lease     string        // kind of the lease store that decided; empty when the log itself did
	Attempt   int
	Branch    string
	Bundle    string // claim: the bundle it was taken for
	Was       string // claim: the labels before a bundle's claim, to be put back (see labels.Scheme.Was)
	Person    string // claim: login of the person who holds the issue; empty for an agent's run
	Assignee  string // claim: login that the claim assigns, to be taken off with its end
	Forced    string // claim: codes of the reasons it was made in spite of, with commas between them
	Outcome   string // release
	PR        string // release, unlink: URL of the pull request
	Closes    bool   // release, link=closes: the pull request closed the issue by its own word when this was written
	Restart   bool   // reset, restart=yes: nothing that was said before keeps the issue from being taken
	Stage     string // claim, release: the stage of a pipeline that it was taken in, or goes to
	By        string // who wrote it, when that is not the worker itself
	Reason    string
	NotBefore time.Time // release: no new claim before this server time
	At        time.Time // ts: for people only, never used for order or age
	Extra     []Field   // keys this version does not know, kept on edit
}

// A Field is one key=value pair of a record.
type Field struct{ Key, Value string }

// Errors of Decode for comments that begin like a record and are none.
var (
	ErrUnterminated = errors.New(`record without closing "-->"`)
	ErrUnknownKind  = errors.New("unknown record kind")
	ErrNoWorker     = errors.New("record without codename or firing_id")
	ErrLongWorker   = errors.New("codename or firing_id longer than 256 bytes")
)

// maxName bounds codename and firing_id in bytes. Older writers used more letters than Validate
// allows, and their claims must count; but whatever counts must fit into the record that ends it.
const maxName = 256

const (
	open   = "<!-- agent-"
	closer = "-->"
)

// Decode reads the record at the very start of a comment body. ok is false for ordinary talk; then
// err is nil, or says why text that begins like a record does not count. It is tolerant: fields
// stand between ASCII white space, unknown keys are kept in Extra, broken optional values count as
// absent, the first of a repeated key wins (spec.md#reading).
func Decode(body string) (r Record, ok bool, err error) {
	body = strings.TrimPrefix(body, "\ufeff")
	text := strings.TrimLeft(body, " \t\r\n\v\f")
	before := body[:len(body)-len(text)]
	rest, found := strings.CutPrefix(text, open)
	width := 0 // of the white space before the record, in columns; a tab alone makes a block of code
	for _, r := range before[strings.LastIndexAny(before, "\r\n")+1:] {
		if r == '\t' {
			width += tabStop
		} else {
			width++
		}
	}

	if !found || width >= tabStop { // such a line is a block of code: text that is shown
		return Record{}, false, nil
	}
	inside, _, found := strings.Cut(rest, closer)
	if !found {
		return Record{}, false, ErrUnterminated
	}

	kind, fields, found := strings.Cut(inside, ":")
	if !found || !slices.Contains(Kinds(), Kind(kind)) {
		return Record{}, false, fmt.Errorf("%w: %q", ErrUnknownKind, clip(kind))
	}

	r = Record{Kind: Kind(kind)}
	seen := map[string]bool{}
	for _, token := range strings.FieldsFunc(fields, func(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }) {
		key, value, found := strings.Cut(token, "=")
		switch key { // older spellings
		case "pr_url":
			key = "pr"
		case "swept_by":
			key = "by"
		}

		notName := key == "" || strings.ContainsFunc(key, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
		if !found || notName || seen[key] {
			continue
		}

		seen[key] = true
		if value = unescape(value); !r.set(key, value) {
			r.Extra = append(r.Extra, Field{key, value})
		}
	}

	switch {
	case r.Worker.Codename == "" || r.Worker.FiringID == "":
		return Record{}, false, ErrNoWorker
	case len(r.Worker.Codename) > maxName || len(r.Worker.FiringID) > maxName:
		return Record{}, false, ErrLongWorker
	}

	return r, true, nil
}

// tabStop is how far a tab goes in Markdown, and how many spaces make a line a block of code.
const tabStop = 4

// set stores one field; false means the key is not one of ours.
func (r *Record) set(key, value string) bool {
	switch key {
	case "codename":
		r.Worker.Codename = value
	case "firing_id":
		r.Worker.FiringID = value
	case "nonce":
		r.Nonce = value
	case "resumes":
		r.Resumes = value
	case "ttl":
		r.TTL = parseTTL(value)
	case "state":
		r.Held = value == "held"
	case "hb":
		r.Heartbeat = parseNumber(value, maxCount)
	case "token":
		r.Token = parseNumber(value, maxToken)
	case "lease":
		r.Lease = value
	case "attempt":
		r.Attempt = int(parseNumber(value, maxCount))
	case "branch":
		r.Branch = value
	case "bundle":
		r.Bundle = value
	case "was":
		r.Was = value
	case "person":
		r.Person = value
	case "assignee":
		r.Assignee = value
	case "forced":
		r.Forced = value
	case "outcome":
		r.Outcome = value
	case "pr":
		r.PR = value
	case "link":
		r.Closes = value == "closes"
	case "restart":
		r.Restart = value == "yes"
	case "stage":
		r.Stage = value
	case "by":
		r.By = value
	case "reason":
		r.Reason = value
	case "not_before":
		r.NotBefore = parseTime(value)
	case "ts":
		r.At = parseTime(value)
	default:
		return false
	}

	return true
}

const (
	maxCount = 1<<31 - 1
	maxToken = 1<<53 - 1 // what every JSON reader keeps exactly; the revisions of a store grow past 32 bits
)

// parseNumber reads 0 to most, in digits only; anything else is 0.
func parseNumber(s string, most uint64) int64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > most {
		return 0
	}
	return int64(n)
}

// parseTime reads a time of RFC 3339; anything else is the zero time. time.Parse is more lenient:
// it takes hours of one digit, a comma before the fraction, and zones of a day and more. A zone
// must not move the year out of four digits: no writer could write that back.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || s[len("2006-01-02T15")] != ':' || strings.Contains(s, ",") {
		return time.Time{}
	}
	if zone := s[len(s)-len("+00:00"):]; !strings.HasSuffix(s, "Z") && (zone[1:3] > "23" || zone[4:] > "59") {
		return time.Time{}
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}

	return t.Truncate(time.Second)
}

// maxTTL is the longest lease but for none; in seconds it is the largest number that a record may
// have.
const maxTTL = (1<<31 - 1) * time.Second

// parseTTL reads integer seconds, 30s, 30m, 4h or none; anything else is the default, 0.
func parseTTL(s string) time.Duration {
	if s == "none" {
		return NoExpiry
	}
	unit := time.Second
	switch {
	case strings.HasSuffix(s, "s"):
		s = strings.TrimSuffix(s, "s")
	case strings.HasSuffix(s, "m"):
		s, unit = strings.TrimSuffix(s, "m"), time.Minute
	case strings.HasSuffix(s, "h"):
		s, unit = strings.TrimSuffix(s, "h"), time.Hour
	}

	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n > uint64(maxTTL/unit) {
		return 0
	}

	return time.Duration(n) * unit
}
