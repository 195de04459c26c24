package outgoing

import (
	"bufio"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/git"
)

// TestPackedMessages: git prints messages otherwise than they are, and cuts them at a NUL; they are
// read byte for byte all the same.
func TestPackedMessages(t *testing.T) {
	texts := []string{
		"", "\n", "\n\n\n", "subject", "subject\n", "subject\n\nbody\n", "subject\n\nbody", "  indented\n\ttab\n",
		"\n\nlate\n",
		"blanks \t\r\nat the ends \n\n\n", "before\x00after closes #1\n", "before\n\x00after", "\x00",
		"caf\xe9 fixes #1\n", "    four\n",
	}

	for _, format := range []string{"sha1", "sha256"} {
		for _, header := range []string{"", "encoding UTF-16LE\n", "gpgsig -----BEGIN-----\n \n x\n -----END-----\n"} {
			s := newSandbox(t)
			s.git(".", "init", "--quiet", "--object-format="+format, "-b", "main", "w")
			tree := s.git("w", "hash-object", "-t", "tree", "-w", "/dev/null")
			want := map[string]string{}
			parent, tip := "", ""
			for i, text := range texts {
				who := fmt.Sprintf("ann <ann@example.com> %d +0000\n", begin+i)
				tip = s.raw("w", "tree "+tree+"\n"+parent+"author "+who+"committer "+who+header+"\n"+text)
				parent = "parent " + tip + "\n"
				want[tip] = text
			}

			s.git("w", "update-ref", "refs/heads/main", tip)
			s.git("w", "repack", "--quiet", "-a", "-d")

			at := git.Git{Dir: s.path("w"), Env: s.environ()}
			p := Push{Remote: "origin", URL: "https://example.com/x", Updates: []Update{
				{
					LocalRef:  "HEAD",
					LocalOID:  tip,
					RemoteRef: "refs/heads/x",
					RemoteOID: strings.Repeat("0", len(tip)),
				},
			}}
			got, err := leaving(t.Context(), at, p)
			if err != nil || len(got) != len(texts) {
				t.Fatalf("%s, %q: %d commits, %v", format, header, len(got), err)
			}

			for _, c := range got {
				if string(c.Message) != want[c.OID] || c.Cut {
					t.Errorf("%s, %q: %q, cut %t; want %q", format, header, c.Message, c.Cut, want[c.OID])
				}
			}

			p.Keep = func(message []byte) bool { return strings.Contains(string(message), "after") }
			got, err = leaving(t.Context(), at, p)
			if err != nil || len(got) != 2 {
				t.Errorf("%s, %q: %d commits behind a NUL, %v", format, header, len(got), err)
			}
		}
	}
}

// TestHeadersThatEndEarly: an answer of git's that stops within a commit, or is none, is an error.
func TestHeadersThatEndEarly(t *testing.T) {
	whole := oidA + "\ntree " + oidA + "\n\n    text\n\x00"
	buffered := oidA + "\n" + strings.Repeat("x", bufio.NewReader(nil).Size()-len(oidA+"\n")) // to the end of a read
	for text, want := range map[string]error{
		"": io.EOF, whole[:len(whole)-1]: io.ErrUnexpectedEOF, oidA: io.ErrUnexpectedEOF, whole: nil,
		buffered: io.ErrUnexpectedEOF,
	} {
		if _, _, err := newHeaderReader(bufio.NewReader(strings.NewReader(text))).next(); !errors.Is(err, want) {
			t.Errorf("%.80q: %v, want %v", text, err, want)
		}
	}

	content := "tree " + oidA + "\n\ntext\n"
	whole = fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "commit %d\x00%s", len(content), content))) + whole[len(oidA):]
	if _, exact, err := newHeaderReader(bufio.NewReader(strings.NewReader(whole))).next(); !exact || err != nil {
		t.Errorf("%q: exact %t, %v", whole, exact, err)
	}

	for _, text := range []string{"\x00", "HEAD\ntree\x00", "\n\n\x00"} {
		if _, _, err := newHeaderReader(bufio.NewReader(strings.NewReader(text))).next(); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add([]byte(oidA + "\ntree " + oidA + "\n\n    text\n\x00"))
	f.Add([]byte(oidA + "\n\x00" + oidA + "\x00"))
	f.Add([]byte(oidA + "\n\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		headers := newHeaderReader(bufio.NewReader(strings.NewReader(string(text))))
		for {
			c, _, err := headers.next()
			if err != nil {
				return
			}

			if !isOID(c.OID) || len(c.Message) > maxMessage {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func FuzzCatFile(f *testing.F) {
	f.Add([]byte(oidA + " commit 4\na\n\nb\n"))
	f.Add([]byte(oidA + " commit 99999999999999999999\n"))
	f.Add([]byte(oidA + " missing\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = readObjects(bufio.NewReader(strings.NewReader(string(text))), func(c Commit) {
			if !isOID(c.OID) || len(c.Message) > maxMessage {
				t.Fatalf("%+v", c)
			}
		})
	})
}

// TestParseRemotes: as git config --null --get-regexp prints them.
func TestParseRemotes(t *testing.T) {
	got := parseRemotes("remote.origin.url\nhttps://example.com/x\x00remote.a.b.fetch\n+refs/heads/*:refs/remotes/a.b/*\x00" +
		"remote.origin.fetch\nmain\x00remote.origin.pushurl\nssh://x\x00remote.pushdefault\norigin\x00remote.bare.url\x00")
	want := []remoteConfig{
		{name: "origin", urls: []string{"https://example.com/x", "ssh://x"}, fetch: []string{"main"}},
		{name: "a.b", fetch: []string{"+refs/heads/*:refs/remotes/a.b/*"}},
		{name: "bare", urls: []string{""}},
	}

	if !slices.EqualFunc(got, want, func(a, b remoteConfig) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestConfigOfAClone: git is asked for its configuration, unless the file has what a clone writes
// and nothing leads elsewhere.
func TestConfigOfAClone(t *testing.T) {
	clone := "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n"
	for more, want := range map[string]bool{
		"": true,
		"[remote \"team/hub\"]\n\tfetch = +refs/heads/*:refs/remotes/team/hub/*\n":   false, // its references may be below those of a remote "team"
		"[remote \"origin\"]\n\tfetch = fix:refs/remotes/origin/main\n":              false,
		"[remote \"origin\"]\n\tFetch=+refs/heads/fix:refs/remotes/origin/main\n":    false,
		"[remote \"origin\"] fetch = +refs/heads/*:refs/remotes/origin/*\n":          false,
		"[remote \"fork\"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n":         false,
		"[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\\\n/x\n": false,
		"[include]\n\tpath = more\n":                false,
		"[includeIf \"gitdir:x\"]\n\tpath = more\n": false,
		"[extensions]\n\tworktreeConfig = true\n":   false,
	} {
		s := newSandbox(t)
		s.write("r/config", clone+more)
		if got := repository(s.path("r")).clonesConfig(); got != want {
			t.Errorf("with %q: %t", more, got)
		}
	}

	if repository(t.TempDir()).clonesConfig() {
		t.Error("without a file")
	}

	s := newSandbox(t)
	r := repository(s.path("r"))
	for branch, want := range map[string]int{"trunk": 3, "main": 2, "master": 2, "a..b": 2} {
		s.write("r/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/"+branch+"\n")
		if tips := r.likelyTips(tracking{remotes: []string{"origin"}}); len(tips) != want || tips[want-1] == "" {
			t.Errorf("with %s likely are %q", branch, tips)
		}
	}

	for _, name := range []string{"", "-a", "../a", "a..b", "a@{b", "a b", "a*"} {
		if wellFormed(name) {
			t.Errorf("%q is well formed", name)
		}
	}

	for text, want := range map[string]bool{"": true, oidA + "\n": false} {
		if s.write("r/shallow", text); r.plain(git.Git{}) != want {
			t.Errorf("shallow with %q: plain %t", text, !want)
		}
	}
}

// TestConfiguredElsewhere: configuration of remotes in the environment, as git -c leaves it.
func TestConfiguredElsewhere(t *testing.T) {
	for variable, want := range map[string]bool{
		"GIT_CONFIG_PARAMETERS='remote.origin.fetch'='x:y'": true,
		"GIT_CONFIG_KEY_3=Remote.origin.fetch":              true,
		"GIT_CONFIG_KEY_3=protocol.file.allow":              false,
		"HOME=/remote.x":                                    false,
	} {
		if got := configuresRemotes([]string{"PATH=/bin", variable}); got != want {
			t.Errorf("%s: %t", variable, got)
		}
	}
}

// TestFetchedAs: where a fetch refspec stores a reference.
func TestFetchedAs(t *testing.T) {
	for _, c := range []struct{ ref, refspec, want string }{
		{"refs/heads/a/b", "+refs/heads/*:refs/remotes/origin/*", "refs/remotes/origin/a/b"},
		{"refs/heads/fix", "fix:remotes/origin/mine", "refs/remotes/origin/mine"},
		{"refs/heads/fix", "refs/heads/main:refs/remotes/origin/main", ""},
		{"refs/heads/team/x", "refs/heads/team/*:refs/remotes/origin/*", "refs/remotes/origin/x"},
		{"refs/heads/main", "refs/heads/team/*:refs/remotes/origin/*", ""},
	} {
		if got, ok := fetchedAs(c.ref, c.refspec); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s by %s: %q, %t", c.ref, c.refspec, got, ok)
		}
	}
}
