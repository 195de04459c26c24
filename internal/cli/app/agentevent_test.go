package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// passes DURATION lets so much time pass for everybody: GitHub's clock goes forward, and the hold
// records below the script's folder become so much older, which is the same as this machine's clock
// going forward.
func passes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: passes DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	poll(ts, "what an event has left behind it", func() bool { return !behindEvents(ts.Getenv("WORK")) })
	worldOf(ts).Skip(d)
	ts.Check(age(ts.Getenv("WORK"), d))
}

// behindEvents reports whether a process that an event of the script has started is still at work,
// which would write a record that is moved. Only Linux tells; elsewhere there is none.
func behindEvents(work string) bool {
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(commands, func(file string) bool {
		command, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(command, []byte("\x00agent\x00event\x00")) {
			return false
		}

		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
		return bytes.Contains(environ, []byte("WORK="+work+"\x00"))
	})
}

// age moves the times of this machine in every hold record below the folder.
func age(root string, by time.Duration) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "label-state/holds") ||
			filepath.Ext(file) != ".json" {
			return err
		}

		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}

		var record map[string]any
		if err := json.Unmarshal(data, &record); err != nil {
			return err
		}

		for _, key := range []string{"claimed", "renewed", "tried", "ended"} {
			text, ok := record[key].(string)
			if !ok {
				continue
			}

			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return err
			}

			record[key] = at.Add(-by)
		}

		if data, err = json.Marshal(record); err != nil {
			return err
		}

		return os.WriteFile(file, data, 0o600)
	})
}

// changed FILE OLD waits until a program in the background has written the file anew and given it
// another firing id than the old one's.
func changed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: changed FILE OLD")
	}

	key := func(file string) string {
		var record struct {
			FiringID string `json:"firing_id"`
		}
		_ = json.Unmarshal([]byte(ts.ReadFile(file)), &record)
		return record.FiringID
	}

	old := key(args[1])
	poll(ts, args[0], func() bool { now := key(args[0]); return now != "" && now != old })
}

// removed FILE waits until a program in the background has removed the file.
func removed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: removed FILE")
	}
	poll(ts, args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return errors.Is(err, fs.ErrNotExist)
	})
}
