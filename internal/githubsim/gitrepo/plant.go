package gitrepo

import (
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// configuration allows what GitHub allows, and keeps background work and short lock timeouts out of
// concurrent tests.
const configuration = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	logAllRefUpdates = false
	filesRefLockTimeout = 10000
	packedRefsTimeout = 10000
[http]
	receivepack = true
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[receive]
	autogc = false
[gc]
	auto = 0
`

// simulator signs the first commit of every repository; its fixed time keeps object ids the same
// from run to run.
var simulator = Signature{Name: "GitHub", Email: "noreply@github.com", When: time.Unix(1577836800, 0).UTC()}

// plant writes a new bare repository whose branch has one empty commit, in the layout that
// gitrepository-layout(5) describes. It runs no git: tests make thousands of repositories, and each
// would take a dozen processes.
func plant(dir, branch string) error {
	head := filepath.Join(dir, "HEAD")
	if _, err := os.Stat(head); err == nil {
		return fmt.Errorf("%s: %w", dir, os.ErrExist)
	}

	err := errors.Join(os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o755),
		os.MkdirAll(filepath.Join(dir, "refs", "tags"), 0o755))
	if err != nil {
		return err
	}

	tree, err := plantObject(dir, "tree", nil)
	if err != nil {
		return err
	}

	commit, err := plantObject(dir, "commit",
		fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\nInitial commit\n", tree, simulator, simulator))
	if err != nil {
		return err
	}

	return errors.Join(
		plantFile(filepath.Join(dir, filepath.FromSlash(branch)), commit+"\n", 0o644),
		plantFile(filepath.Join(dir, "config"), configuration, 0o644),
		plantFile(head, "ref: "+branch+"\n", 0o644),
	)
}

// emptyTree is the id of the tree with nothing in it, which every planted repository has.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// plantObject stores a loose object and returns its id. Others may store the same one at the same
// moment.
func plantObject(dir, kind string, content []byte) (string, error) {
	data := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	oid := fmt.Sprintf("%x", sha1.Sum(data))
	name := filepath.Join(dir, "objects", oid[:2], oid[2:])
	if _, err := os.Stat(name); err == nil {
		return oid, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}

	f, err := os.CreateTemp(filepath.Dir(name), "tmp_obj_")
	if err != nil {
		return "", err
	}

	w := zlib.NewWriter(f)
	_, err = w.Write(data)
	err = errors.Join(err, w.Close(), f.Chmod(0o444), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}

	if err != nil {
		_ = os.Remove(f.Name()) // the error above says more
	}

	return oid, err
}

func plantFile(name, text string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), mode)
}
