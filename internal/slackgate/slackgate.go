// Package slackgate shows a plan in one Slack channel and reads the answer from the reactions to
// it.
package slackgate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/label-state/label-state/internal/printable"
)

// Options say which channel, as whom and who may answer. All are required but API and HTTP.
type Options struct {
	Token     string
	Channel   string   // id, such as C0123ABC
	Approvers []string // ids of users, such as U0123ABC
	API       string   // root, ending in a slash; empty is Slack's
	HTTP      *http.Client
}

// A Gate posts plans and reads answers. It keeps nothing.
type Gate struct {
	client    *slack.Client
	channel   string
	approvers []string
}

// New returns a gate. It asks nothing.
func New(o Options) *Gate {
	var with []slack.Option
	if o.API != "" {
		with = append(with, slack.OptionAPIURL(o.API))
	}

	if o.HTTP != nil {
		with = append(with, slack.OptionHTTPClient(o.HTTP))
	}

	return &Gate{slack.New(o.Token, with...), o.Channel, o.Approvers}
}

// A Plan is what people are asked about. Its texts are other people's.
type Plan struct {
	Issue  string // owner/repo#7
	Title  string
	URL    string // of the issue, where the whole plan stands
	Worker string
	Text   string
}

// A Message is one message of a channel.
type Message struct{ Channel, Time string }

// String returns the form that ParseMessage reads: C0123ABC/1700000000.000100.
func (m Message) String() string { return m.Channel + "/" + m.Time }

// ParseMessage reads what String wrote; ok is false for all else.
func ParseMessage(text string) (m Message, ok bool) {
	if !regexp.MustCompile(`^[A-Z0-9]{1,40}/[0-9]{1,20}\.[0-9]{1,10}$`).MatchString(text) {
		return m, false
	}
	m.Channel, m.Time, ok = strings.Cut(text, "/")
	return m, ok
}

// shownLimit is how much of a plan a message shows, in bytes: a block of Slack's holds 3,000
// characters.
const shownLimit = 2800

// Post shows a plan. Everything in it is plain text to Slack: no mention, no link, no markup.
func (g *Gate) Post(ctx context.Context, p Plan) (Message, error) {
	head := fmt.Sprintf("%s has a plan for %s %s", printable.Short(p.Worker, 100), p.Issue,
		printable.Short(p.Title, 200))
	text := printable.Lines(p.Text)
	if len(text) > shownLimit {
		text = printable.Clip(text, shownLimit) + "\n(the whole plan is on the issue)"
	}

	channel, at, err := g.client.PostMessageContext(ctx, g.channel,
		slack.MsgOptionText(head, true), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
		slack.MsgOptionBlocks(section(head), section(text),
			section("Answer with :+1: or :-1: on this message, or on "+p.URL)))
	if err != nil {
		return Message{}, explain("post the plan", err)
	}
	m, ok := ParseMessage(Message{channel, at}.String())
	if !ok {
		return m, fmt.Errorf("post the plan to Slack: the answer names no message")
	}

	return m, nil
}

// section shows plain text.
func section(text string) slack.Block {
	return slack.NewSectionBlock(slack.NewTextBlockObject(slack.PlainTextType, text, false, false), nil, nil)
}

// An Answer is an approver's reaction.
type Answer struct {
	User     string // id
	Approves bool
}

// Answer returns the reaction of an approver to a message, nil when there is none. One that rejects
// outweighs any that approve.
func (g *Gate) Answer(ctx context.Context, m Message) (*Answer, error) {
	item, err := g.client.GetReactionsContext(ctx, slack.NewRefToMessage(m.Channel, m.Time),
		slack.GetReactionsParameters{Full: true})
	if err != nil {
		return nil, explain("read reactions", err)
	}

	for _, name := range []string{"-1", "+1"} {
		for _, r := range item.Reactions {
			shown, _, _ := strings.Cut(r.Name, "::") // in whatever skin tone
			i := slices.IndexFunc(r.Users, func(u string) bool { return slices.Contains(g.approvers, u) })
			if shown == name && i >= 0 {
				return &Answer{r.Users[i], name == "+1"}, nil
			}
		}
	}

	return nil, nil
}

// A BusyError says that Slack asks to wait.
type BusyError struct{ After time.Duration }

func (e *BusyError) Error() string { return fmt.Sprintf("Slack asks to wait %s", e.After) }

// An AwayError says that Slack could not be asked: what answered, if anything did, was not Slack.
type AwayError struct{ why string }

func (e *AwayError) Error() string { return e.why }

// explain keeps tokens and Slack's answers out of errors: one says what was done and Slack's word
// for why not.
func explain(what string, err error) error {
	var limit *slack.RateLimitedError
	var refused slack.SlackErrorResponse
	var status slack.StatusCodeError
	var odd *json.SyntaxError
	switch {
	case errors.As(err, &limit):
		return fmt.Errorf("%s: %w", what, &BusyError{limit.RetryAfter})
	case errors.As(err, &refused):
		return fmt.Errorf("%s: Slack says %s", what, printable.Short(refused.Err, 100))
	case errors.As(err, &status):
		return fmt.Errorf("%s: %w", what, &AwayError{fmt.Sprintf("Slack answers with HTTP %d", status.Code)})
	case errors.As(err, &odd):
		return fmt.Errorf("%s: %w", what, &AwayError{"the answer is not Slack's"})
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", what, err)
	}

	return fmt.Errorf("%s: %w", what, &AwayError{"Slack was not reached"})
}
