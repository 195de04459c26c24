package outgoing

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/label-state/label-state/internal/smallfile"
)

const (
	// smallFile, in bytes, is what is read at once: to map it would take longer.
	smallFile = 64 << 10
	// oftenRead is after how many reads of its parts a file is mapped: it takes as long as some dozen of them.
	oftenRead = 64
)

// mapFile gives the content of a file of at most limit bytes, of a large one without reading what nobody looks at. unmap ends
// its validity. Errors are those of smallfile.Follow.
func mapFile(path string, limit int64) (data []byte, unmap func(), err error) {
	f, err := smallfile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case info.Size() > limit:
		return nil, nil, &smallfile.LargeError{Path: path, Limit: limit}
	case info.Size() > smallFile:
		data, err := mmap(f, info.Size())
		if err == nil {
			return data, func() { munmap(data) }, nil
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return nil, nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	if info.Size() > maxRefs {
		return nil, nil, &smallfile.LargeError{Path: path, Limit: maxRefs}
	}
	data = make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, func() {}, nil
}

// A partFile gives parts of a file. It reads the first few that it is asked for and then maps the file, which takes longer
// once and less each time; a system without maps reads on.
type partFile struct {
	file   *os.File
	reads  int
	part   []byte // the last one read
	mapped []byte
}

func openParts(path string) (*partFile, error) {
	f, err := smallfile.Open(path)
	return &partFile{file: f}, err
}

// at returns n bytes from an offset on; they are valid until the next call. A part that is not all there is
// io.ErrUnexpectedEOF.
func (p *partFile) at(offset int64, n int) ([]byte, error) {
	if p.reads++; p.reads == oftenRead {
		info, err := p.file.Stat()
		if err != nil {
			return nil, err
		}
		if p.mapped, err = mmap(p.file, info.Size()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
	}
	if p.mapped != nil {
		if offset < 0 || n < 0 || offset > int64(len(p.mapped)-n) {
			return nil, io.ErrUnexpectedEOF
		}
		return p.mapped[offset : offset+int64(n)], nil
	}
	if n < 0 || offset > math.MaxInt64-int64(n) {
		return nil, io.ErrUnexpectedEOF
	}
	if n > cap(p.part) {
		p.part = make([]byte, n)
	}
	_, err := p.file.ReadAt(p.part[:n], offset)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return p.part[:n], err
}

func (p *partFile) close() {
	munmap(p.mapped)
	p.file.Close()
}
