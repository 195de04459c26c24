package outgoing

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/label-state/label-state/internal/smallfile"
)

// A pack is opened when its index names an object, the index when it is first asked. Commits that are stored whole, as nearly
// all are, are read from the part of the file at hand, since neighbours in history are neighbours in a pack; go-git's reader
// resolves the others.
type pack struct {
	base   string // the path without .idx or .pack
	index  *packIndex
	file   *os.File
	reader *packfile.Packfile
	part   []byte // of the file
	start  int64  // of part
}

// partSize is how much of a pack is read at once, at least.
const partSize = 16 << 10

func (p *pack) object(oid plumbing.Hash, f *inflater) (plumbing.ObjectType, []byte, error) {
	if p.index == nil {
		index, err := openPackIndex(p.base + ".idx")
		if err != nil {
			return 0, nil, err
		}
		p.index = index
	}
	offset, err := p.index.FindOffset(oid)
	if err == nil && p.file == nil {
		p.file, err = smallfile.Open(p.base + ".pack")
	}
	if err != nil {
		return 0, nil, err
	}
	kind, data, err := p.whole(offset, f)
	if err == nil && kind.IsDelta() { // go-git puts it together from others
		if p.reader == nil {
			p.reader = packfile.NewPackfileWithCache(p.index, nil, packFile{p.file}, nil, 0)
		}
		var o plumbing.EncodedObject
		var content io.ReadCloser
		if o, err = p.reader.GetByOffset(offset); err == nil {
			content, err = o.Reader()
		}
		if err == nil {
			kind = o.Type()
			data, err = io.ReadAll(content)
		}
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		err = errDamaged // the index names it: another pack is not where to look
	}
	if err != nil {
		return 0, nil, fmt.Errorf("read %s at %d of %s: %w", oid, offset, p.base, err)
	}
	return kind, data, nil
}

// whole reads an object that is stored whole (gitformat-pack(5)); of others, and of those that are of no interest, only
// the type.
func (p *pack) whole(offset int64, f *inflater) (plumbing.ObjectType, []byte, error) {
	head, err := p.bytes(offset, 16)
	if err != nil {
		return 0, nil, err
	}
	kind, size, n := plumbing.ObjectType(head[0]>>4&7), int64(head[0]&15), 1
	for ; n < len(head) && head[n-1] >= 0x80; n++ {
		size |= int64(head[n]&0x7f) << (4 + 7*(n-1))
	}
	if head[n-1] >= 0x80 || size < 0 || !kind.Valid() || kind == 5 { // 5 is reserved
		return 0, nil, fmt.Errorf("%w: entry of a pack", errDamaged)
	}
	if !hasText(kind) {
		return kind, nil, nil
	}
	data := f.room(size)
	packed, err := p.bytes(offset+int64(n), len(data)+len(data)>>8+1<<10) // with tables, and were it incompressible
	if err == nil {
		err = f.open(bytes.NewReader(packed))
	}
	if err == nil {
		_, err = io.ReadFull(f.reader, data)
	}
	return kind, data, err
}

// bytes returns what is in the file from offset on: so many bytes, or more, or all there are. What it reads beside them
// lies in the direction in which the walk goes through the file: forwards in a pack that git has ordered, backwards in one
// that grew with the history.
func (p *pack) bytes(offset int64, most int) ([]byte, error) {
	if from := offset - p.start; from >= 0 && from+int64(most) <= int64(len(p.part)) {
		return p.part[from:], nil
	}
	if cap(p.part) < most {
		p.part = make([]byte, 0, max(most, partSize))
	}
	start := offset
	if offset < p.start {
		start = max(0, offset-int64(min(cap(p.part)-most, partSize*3/4)))
	}
	n, err := p.file.ReadAt(p.part[:cap(p.part)], start)
	p.part, p.start = p.part[:n], start
	if from := offset - start; from < int64(n) && (err == nil || errors.Is(err, io.EOF)) {
		return p.part[from:], nil
	}
	return nil, cmp.Or(err, io.ErrUnexpectedEOF)
}

// A packFile is an open file in the shape go-git asks for; nobody locks it.
type packFile struct{ *os.File }

// Lock does nothing: packs do not change.
func (packFile) Lock() error { return nil }

// Unlock does nothing.
func (packFile) Unlock() error { return nil }
