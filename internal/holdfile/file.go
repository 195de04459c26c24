package holdfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// format is the version of the file. A newer one is refused; keys this version does not know are not.
const format = 1

// file is a hold as it is stored. TTL is in seconds, -1 never lapses.
type file struct {
	Format   int       `json:"format"`
	Owner    string    `json:"owner"`
	Repo     string    `json:"repo"`
	Number   int       `json:"number"`
	Codename string    `json:"codename"`
	FiringID string    `json:"firing_id"`
	Comment  int64     `json:"comment"`
	URL      string    `json:"url,omitempty"`
	Token    int64     `json:"token"`
	TTL      int64     `json:"ttl_seconds"`
	Branch   string    `json:"branch,omitempty"`
	Until    time.Time `json:"until,omitzero"`
}

func toFile(h Hold) file {
	ttl := int64(h.TTL / time.Second)
	if h.TTL == claim.NoExpiry {
		ttl = -1
	}
	return file{
		Format: format, Owner: h.Issue.Owner, Repo: h.Issue.Repo, Number: h.Issue.Number,
		Codename: h.Worker.Codename, FiringID: h.Worker.FiringID, Comment: h.Comment, URL: h.URL,
		Token: h.Token, TTL: ttl, Branch: h.Branch, Until: h.Until.UTC(),
	}
}

func (f file) hold() Hold {
	h := Hold{
		Issue:  claim.Issue{Owner: f.Owner, Repo: f.Repo, Number: f.Number},
		Worker: claim.Worker{Codename: f.Codename, FiringID: f.FiringID}, Comment: f.Comment, URL: f.URL,
		Token: f.Token, TTL: time.Duration(f.TTL) * time.Second, Branch: f.Branch, Until: f.Until,
	}
	if f.TTL == -1 {
		h.TTL = claim.NoExpiry
	}
	return h
}

// maxTTL in seconds is far beyond any lease and far from overflow.
const maxTTL = 10 * 365 * 24 * 3600

func parse(data []byte) (Hold, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	var f file
	if err := d.Decode(&f); err != nil {
		return Hold{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Hold{}, errors.New("something follows the hold")
	}
	if f.Format != format {
		return Hold{}, fmt.Errorf("format %d, this version reads %d", f.Format, format)
	}
	if f.TTL < -1 || f.TTL > maxTTL {
		return Hold{}, fmt.Errorf("ttl of %d seconds", f.TTL)
	}
	h := f.hold()
	return h, h.check()
}

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
