package mcp

import (
	"errors"
	"io"
	"slices"
	"sync"
	"time"
)

// lastWords is how long a message may take to be read once the server has been told to end.
const lastWords = time.Second

var errUnread = errors.New("the client does not read")

// A sender writes whole messages, whoever sends them. It is not closed: the stream is not ours.
type sender struct {
	out io.Writer
	end <-chan struct{} // closed when the server is to end

	mu   sync.Mutex
	gone error // why nothing more is written
}

// Write writes one message. A client that does not read it keeps the server waiting, but not from
// ending.
func (s *sender) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil {
		return 0, s.gone
	}

	message, written := slices.Clone(p), make(chan error, 1)
	go func() {
		_, err := s.out.Write(message)
		written <- err
	}()

	select {
	case s.gone = <-written:
	case <-s.end:
		select {
		case s.gone = <-written:
		case <-time.After(lastWords):
			s.gone = errUnread
		}
	}

	if s.gone != nil {
		return 0, s.gone
	}

	return len(p), nil
}

// Close does nothing.
func (s *sender) Close() error { return nil }

// restored writes what the library says, with the client's own ids, which are free again.
type restored struct {
	*sender
	in *lines
}

func (r restored) Write(line []byte) (int, error) {
	if _, err := r.sender.Write(unquoteIDs(line, r.in.answered)); err != nil {
		return 0, err
	}
	return len(line), nil
}
