package outgoing

import (
	"slices"
	"strings"
	"testing"
)

// rightConfigs and wrongConfigs are files in git's syntax and not quite.
var (
	rightConfigs = []string{
		"", "\n", "# nothing\n; here", "[core]", "[core]\n\tbare", "[core]bare=true", "[core]\nbare = ; no\n", "\ufeff[core]\nbare=1\n",
		"[CORE]\n\tRepositoryFormatVersion = 1\n", "[remote \"origin\"]\n\turl = git@github.com:acme/app.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
		"[remote \"a \\\"b\\\" \\\\ \\c\"]\nurl=x\n", "[Remote.Origin]\nurl = x\n", "[a.b \"C d\"]\nkey=x\n", "[a]\nb = \"  x  \"  \n",
		"[a]\nb = x # comment\nc = \"x # none\" ; comment\nd = one \\\n two\ne = \\\"\\\\\\n\n", "[a]\r\nb = x\r\nc = y\\\r\nz\r\n",
		"[a]\nb = \"x\\\n y\"\n", "[a]\nb = \"\" \"\" x\n", "[a]\nb = x \"\"\n", "[a] ; c\nb=1\n[b]\nb=2\n[a]\nb=3\n", "[a]\nb-c1 = x\n",
		"[a]\nb = x#y\n", "[a]\nb = # y\n", "[a]\nb\n", "[-a]\nb = 1\n",
	}
	wrongConfigs = []string{
		"[core\n", "[core]\n1a = x\n", "[core]\na b = x\n", "[core]\na = \"x\n", "[core]\na = \\x\n", "a = b\n", "[a \"b]\n", "[a \"b\"c]\n",
		"[a \"b\n\"]\n", "[]\n", "[a] x y\n", "[a\\]\n", "[a]\nb #\n", "[a.]\nb = 1\n", "[a.\"b\"]\nb = 1\n", "[a]\nb=x\\", "[a \"\"]\nkey=x\n",
		"[a]\nb = x\x00y\n",
	}
)

func TestConfigAsGitReadsIt(t *testing.T) {
	s := newSandbox(t)
	for _, text := range rightConfigs {
		if _, err := parseConfig(text); err != nil {
			t.Errorf("parseConfig(%q): %v", text, err)
		}
		sameAsGit(t, s, text)
	}
	for _, text := range wrongConfigs {
		if got, err := parseConfig(text); err == nil {
			t.Errorf("parseConfig(%q) = %q", text, got)
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, text := range slices.Concat(rightConfigs, wrongConfigs) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { sameAsGit(t, newSandbox(t), text) })
}

// sameAsGit holds parseConfig against git config. It may refuse what git accepts, for then git is asked, but it never
// reads anything else than git does. Versions of git differ in how many blanks they keep between words.
func sameAsGit(t *testing.T, s *sandbox, text string) {
	t.Helper()
	got, err := parseConfig(text)
	if err != nil {
		return
	}
	s.write("config", text)
	out, err := s.run(".", "", "config", "--file", s.path("config"), "--null", "--list")
	if err != nil {
		t.Errorf("parseConfig(%q) = %q, which git refuses", text, got)
		return
	}
	var want strings.Builder
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if key, value, set := strings.Cut(entry, "\n"); set {
			want.WriteString(key + "=" + strings.Join(strings.Fields(value), " ") + "\n")
		} else if entry != "" {
			want.WriteString(key + "=true\n")
		}
	}
	var have strings.Builder
	for _, x := range got {
		name := x.section + "." + x.key
		if x.subsection != "" {
			name = x.section + "." + x.subsection + "." + x.key
		}
		have.WriteString(name + "=" + strings.Join(strings.Fields(x.value), " ") + "\n")
	}
	if have.String() != want.String() {
		t.Errorf("parseConfig(%q) = %q, git reads %q", text, have.String(), want.String())
	}
}
