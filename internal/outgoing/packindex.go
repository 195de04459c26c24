package outgoing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// errDamaged: a file of the repository is not what its format says.
var errDamaged = errors.New("damaged file")

// A packIndex finds objects in a pack by its .idx file, version 2 (gitformat-pack(5)). Unlike go-git's it reads the
// names around the one it looks for and nothing else, so that opening costs 1 KiB however large the pack is. It is an
// idxfile.Index as far as go-git's pack reader needs one without a cache.
type packIndex struct {
	file   *partFile
	fanout [256]uint32
}

const (
	fanoutSize  = 256 * 4
	indexHeader = 8 + fanoutSize
	hashSize    = 20
	// window is how many names one read fetches: more than the guess is usually wrong by.
	window = 256
)

func openPackIndex(path string) (*packIndex, error) {
	f, err := openParts(path)
	if err != nil {
		return nil, err
	}
	x := &packIndex{file: f}
	head, err := f.at(0, indexHeader)
	if err == nil && !bytes.Equal(head[:8], []byte("\xfftOc\x00\x00\x00\x02")) {
		err = fmt.Errorf("%w: not a version 2 index", errDamaged)
	}
	last := uint32(0)
	for i := 0; err == nil && i < len(x.fanout); i++ {
		x.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if x.fanout[i] < last {
			err = fmt.Errorf("%w: fanout goes down", errDamaged)
		}
		last = x.fanout[i]
	}
	if err != nil {
		f.close()
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return x, nil
}

// FindOffset returns where the object starts in the pack, or plumbing.ErrObjectNotFound.
func (x *packIndex) FindOffset(oid plumbing.Hash) (int64, error) {
	position, err := x.search(oid)
	if err != nil {
		return 0, err
	}
	total := int64(x.fanout[255])
	offsets := indexHeader + total*(hashSize+4)
	small, err := x.number(offsets+4*position, 4)
	if err != nil || small&(1<<31) == 0 {
		return small, err
	}
	large, err := x.number(offsets+4*total+8*(small&^(1<<31)), 8)
	if err == nil && large < 0 {
		err = fmt.Errorf("%w: offset of %s", errDamaged, oid)
	}
	return large, err
}

// search guesses the position from the first digits, which are as good as random, and reads the names around it; every
// step leaves a smaller range.
func (x *packIndex) search(oid plumbing.Hash) (int64, error) {
	low, high := int64(0), int64(x.fanout[oid[0]])
	if oid[0] > 0 {
		low = int64(x.fanout[oid[0]-1])
	}
	guess := low + (high-low)*int64(binary.BigEndian.Uint32(oid[1:]))>>32
	for low < high {
		start := max(low, min(guess-window/2, high-window))
		names, err := x.file.at(indexHeader+start*hashSize, int(min(window, high-start))*hashSize)
		if err != nil {
			return 0, fmt.Errorf("read names: %w", err)
		}
		count := int64(len(names) / hashSize)
		at, found := searchNames(names, oid)
		switch {
		case found:
			return start + at, nil
		case at == 0:
			high = start
		case at == count:
			low = start + count
		default:
			return 0, plumbing.ErrObjectNotFound
		}
		guess = low + (high-low)/2
	}
	return 0, plumbing.ErrObjectNotFound
}

// searchNames finds oid in sorted names, or where it would stand.
func searchNames(names []byte, oid plumbing.Hash) (int64, bool) {
	low, high := 0, len(names)/hashSize
	for low < high {
		middle := (low + high) / 2
		switch bytes.Compare(names[middle*hashSize:(middle+1)*hashSize], oid[:]) {
		case 0:
			return int64(middle), true
		case -1:
			low = middle + 1
		default:
			high = middle
		}
	}
	return int64(low), false
}

func (x *packIndex) number(at int64, size int) (int64, error) {
	b, err := x.file.at(at, size)
	if err != nil {
		return 0, fmt.Errorf("read offset: %w", err)
	}
	n := uint64(0)
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return int64(n), nil
}

// Contains reports whether the pack has the object.
func (x *packIndex) Contains(oid plumbing.Hash) (bool, error) {
	_, err := x.search(oid)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Count returns how many objects the pack has.
func (x *packIndex) Count() (int64, error) { return int64(x.fanout[255]), nil }

// FindHash is asked for the base of a delta only to look into a cache. There is none, so any answer will do.
func (x *packIndex) FindHash(int64) (plumbing.Hash, error) { return plumbing.ZeroHash, nil }

// FindCRC32 is not needed to read objects.
func (x *packIndex) FindCRC32(plumbing.Hash) (uint32, error) { return 0, errors.ErrUnsupported }

// Entries is not needed to read objects.
func (x *packIndex) Entries() (idxfile.EntryIter, error) { return nil, errors.ErrUnsupported }

// EntriesByOffset is not needed to read objects.
func (x *packIndex) EntriesByOffset() (idxfile.EntryIter, error) { return nil, errors.ErrUnsupported }
