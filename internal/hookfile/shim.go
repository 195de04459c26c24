package hookfile

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

//go:embed shims/*.sh
var texts embed.FS

// A family is the texts of one purpose, in the order of their versions. A text that was ever
// shipped is never changed and never removed: a new version is a new file.
type family struct {
	mark  string // how the second line of each begins
	texts []string
}

// families of this version.
func prePush() family     { return load("pre-push", "# label-state pre-push shim ") }
func globalPush() family  { return load("global", "# label-state global pre-push shim ") }
func passThrough() family { return load("pass", "# label-state pass-through ") }

// load reads the files NAME-1.sh, NAME-2.sh, …
func load(name, mark string) family {
	f := family{mark: mark}
	for {
		text, err := texts.ReadFile(path.Join("shims", fmt.Sprintf("%s-%d.sh", name, len(f.texts)+1)))
		if err != nil {
			return f
		}
		f.texts = append(f.texts, string(text))
	}
}

// slot is the line that names the compiled hook.
const slot = "\nhook=''\n"

// render is the newest text with the compiled hook's path, or none.
func (f family) render(hook string) string { return fill(f.texts[len(f.texts)-1], hook) }

func fill(text, hook string) string {
	return strings.Replace(text, slot, "\nhook="+printable.ShellQuote(hook)+"\n", 1)
}

// recognise finds which version a file's content is, from 1, and the path it was written with. 0 is
// none: not a byte may differ.
func (f family) recognise(content string) (version int, hook string) {
	_, rest, _ := strings.Cut(content, "\nhook=")
	line, _, _ := strings.Cut(rest, "\n")
	line = strings.TrimSuffix(strings.TrimPrefix(line, "'"), "'")

	// undoes ShellQuote; what that cannot have written comes out as something else
	hook = strings.ReplaceAll(line, `'\''`, "'")
	version = 1 + slices.IndexFunc(f.texts, func(text string) bool { return fill(text, hook) == content })
	return version, hook
}

// marked reports whether the content calls itself one of the family, whatever was done to it.
func (f family) marked(content string) bool {
	_, rest, _ := strings.Cut(content, "\n")
	return strings.HasPrefix(rest, f.mark)
}
