package state

import (
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// holdFormat is the version of the file. A newer one is refused; keys this version does not know
// are not.
const holdFormat = 1

// holdFile is a hold as it is stored. TTL is in seconds, -1 never expires.
type holdFile struct {
	Format   int       `json:"format"`
	Owner    string    `json:"owner"`
	Repo     string    `json:"repo"`
	Number   int       `json:"number"`
	Codename string    `json:"codename"`
	FiringID string    `json:"firing_id"`
	Nonce    string    `json:"nonce,omitempty"`
	Comment  int64     `json:"comment"`
	URL      string    `json:"url,omitempty"`
	Token    int64     `json:"token"`
	TTL      int64     `json:"ttl_seconds"`
	Branch   string    `json:"branch,omitempty"`
	Until    time.Time `json:"until,omitzero"`
	Host     string    `json:"host,omitempty"`
	Session  string    `json:"session,omitempty"`
	Claimed  time.Time `json:"claimed,omitzero"`
	Renewed  time.Time `json:"renewed,omitzero"`
	Tried    time.Time `json:"tried,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	Passed   bool      `json:"passed,omitempty"`
	Lost     string    `json:"lost,omitempty"`
	Refused  string    `json:"refused,omitempty"`
	Unsure   bool      `json:"unsure,omitempty"`
	Tell     string    `json:"tell,omitempty"`
}

// toHoldFile is the hold as it is written.
func toHoldFile(h Hold) holdFile {
	ttl := int64(h.TTL / time.Second)
	if h.TTL == claim.NoExpiry {
		ttl = -1
	}

	return holdFile{
		Format:   holdFormat,
		Owner:    h.Issue.Owner,
		Repo:     h.Issue.Repo,
		Number:   h.Issue.Number,
		Codename: h.Worker.Codename,
		FiringID: h.Worker.FiringID,
		Nonce:    h.Nonce,
		Comment:  h.Comment,
		URL:      h.URL,
		Token:    h.Token,
		TTL:      ttl,
		Branch:   h.Branch,
		Until:    h.Until.UTC(),
		Host:     h.Beat.Host,
		Session:  h.Beat.Session,
		Claimed:  h.Beat.Claimed.UTC(),
		Renewed:  h.Beat.Renewed.UTC(),
		Tried:    h.Beat.Tried.UTC(),
		Ended:    h.Beat.Ended.UTC(),
		Passed:   h.Beat.Passed,
		Lost:     h.Beat.Lost,
		Refused:  h.Beat.Refused,
		Unsure:   h.Beat.Unsure,
		Tell:     h.Beat.Tell,
	}
}

// hold is the hold as it was written.
func (f holdFile) hold() Hold {
	h := Hold{
		Issue:   claim.Issue{Owner: f.Owner, Repo: f.Repo, Number: f.Number},
		Worker:  claim.Worker{Codename: f.Codename, FiringID: f.FiringID},
		Nonce:   f.Nonce,
		Comment: f.Comment,
		URL:     f.URL,
		Token:   f.Token,
		TTL:     time.Duration(f.TTL) * time.Second,
		Branch:  f.Branch,
		Until:   f.Until,
		Beat: Beat{
			Host:    f.Host,
			Session: f.Session,
			Claimed: f.Claimed,
			Renewed: f.Renewed,
			Tried:   f.Tried,
			Ended:   f.Ended,
			Passed:  f.Passed,
			Lost:    f.Lost,
			Refused: f.Refused,
			Unsure:  f.Unsure,
			Tell:    f.Tell,
		},
	}

	if f.TTL == -1 {
		h.TTL = claim.NoExpiry
	}

	return h
}

// maxTTL in seconds is far beyond any lease and far from overflow.
const maxTTL = 10 * 365 * 24 * 3600

// check reports why the hold could not be anybody's.
func (h Hold) check() error {
	if err := h.Worker.Validate(); err != nil {
		return err
	}

	switch {
	case h.Comment < 1:
		return fmt.Errorf("comment id %d", h.Comment)
	case h.Token < 0:
		return fmt.Errorf("fencing token %d", h.Token)
	case h.TTL < 0 && h.TTL != claim.NoExpiry:
		return fmt.Errorf("ttl %s", h.TTL)
	}

	return nil
}
