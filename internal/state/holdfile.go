package state

import (
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
)

// holdFormat is the version of the file. A newer one is refused; keys this version does not know
// are not.
const holdFormat = 1

// holdFile is a hold as it is stored. TTL is in seconds, -1 never expires.
type holdFile struct {
	Format int `json:"format"`
	issueKeys
	workerKeys
	TTL int64 `json:"ttl_seconds"`
	agenthost.Session
	Hold
}

// issueKeys and workerKeys are an issue and a worker with the keys of the file.
type (
	issueKeys struct {
		Owner  string `json:"owner"`
		Repo   string `json:"repo"`
		Number int    `json:"number"`
	}
	workerKeys struct {
		Codename string `json:"codename"`
		FiringID string `json:"firing_id"`
	}
)

// toHoldFile is the hold as it is written.
func toHoldFile(h Hold) holdFile {
	for _, at := range []*time.Time{&h.Since, &h.Until, &h.Claimed, &h.Renewed, &h.Tried, &h.Ended} {
		*at = at.UTC()
	}

	ttl := int64(h.TTL / time.Second)
	if h.TTL == claim.NoExpiry {
		ttl = -1
	}

	return holdFile{holdFormat, issueKeys(h.Issue), workerKeys(h.Worker), ttl, h.Session, h}
}

// hold is the hold as it was written.
func (f holdFile) hold() Hold {
	h := f.Hold
	h.Issue, h.Worker, h.Session = claim.Issue(f.issueKeys), claim.Worker(f.workerKeys), f.Session
	h.TTL = time.Duration(f.TTL) * time.Second
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
