package outgoing

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// An inflater decompresses one object after the other with one set of tables, which are large, and into one buffer.
type inflater struct {
	reader io.ReadCloser
	text   []byte
}

// room returns the buffer in the size of an object, of which no more than maxObject is read.
func (f *inflater) room(size int64) []byte {
	n := int(min(size, maxObject))
	if n > cap(f.text) {
		f.text = make([]byte, max(n, 4<<10))
	}
	return f.text[:n]
}

// open starts with the next compressed object.
func (f *inflater) open(r io.Reader) error {
	if f.reader == nil {
		reader, err := zlib.NewReader(r)
		f.reader = reader
		return err
	}
	return f.reader.(zlib.Resetter).Reset(r, nil)
}

// loose reads an object in a file of its own: "TYPE SIZE NUL CONTENT".
func (f *inflater) loose(r io.Reader) (plumbing.ObjectType, []byte, error) {
	if err := f.open(r); err != nil {
		return 0, nil, err
	}
	var start [64]byte
	n, err := io.ReadFull(f.reader, start[:])
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, nil, err
	}
	header, begin, _ := bytes.Cut(start[:n], []byte{0})
	name, length, _ := bytes.Cut(header, []byte(" "))
	kind, err := plumbing.ParseObjectType(string(name))
	if err != nil {
		return 0, nil, err
	}
	size, err := strconv.ParseInt(string(length), 10, 64)
	if err != nil || size < int64(len(begin)) {
		return 0, nil, fmt.Errorf("%w: object of %q bytes", errDamaged, length)
	}
	if !hasText(kind) {
		return kind, nil, nil
	}
	data := f.room(size)
	_, err = io.ReadFull(f.reader, data[copy(data, begin):])
	return kind, data, err
}

// hasText reports whether objects of a type are read for what they say.
func hasText(kind plumbing.ObjectType) bool {
	return kind == plumbing.CommitObject || kind == plumbing.TagObject
}
