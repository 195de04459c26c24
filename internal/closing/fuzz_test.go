package closing_test

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/closing"
)

func FuzzInCommit(f *testing.F) {
	fuzz(f, closing.InCommit, "commit.txt")
}

func FuzzInDescription(f *testing.F) {
	fuzz(f, closing.InDescription, "description.txt", "commit.txt")
}

// fuzz reads any text, with the public cases as seeds. Whatever comes out is an
// issue, and comes once, and a description closes nothing that its raw text does not.
func fuzz(f *testing.F, read surface, seeds ...string) {
	for _, file := range seeds {
		for _, v := range rows(f, file) {
			f.Add(v.text)
		}
	}

	for _, hostile := range hostileTexts(200) {
		f.Add(hostile)
	}

	f.Fuzz(func(t *testing.T, text string) {
		refs := read(text, home, host)
		coherent(t, text, refs)
		raw := closing.InCommit(text, home, host)
		if len(raw) == closing.Limit {
			return
		}

		mentioned := map[string]bool{}
		for _, r := range raw {
			mentioned[strings.ToLower(r.String())] = true
		}

		for _, r := range refs {
			if !mentioned[strings.ToLower(r.String())] {
				t.Errorf("%q: %s is not in the raw text", text, r)
			}
		}
	})
}

// hostileTexts returns texts of about size bytes made to be read more than once.
func hostileTexts(size int) map[string]string {
	texts := map[string]string{}
	for name, unit := range map[string]string{
		"keywords": "closes ", "colons": "closes:", "blanks": " ", "newlines": "\n", "hashes": "#", "digits": "1",
		"slashes": "closes a/", "owners": "closes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/",
		"URLs": "closes https://github.com/a/b/issues/",
		"same": "closes #1 ", "ticks": "`", "escapes": "\\`", "comments": "<!--", "comment ends": "-->", "quotes": ">",
		"quoted":  "> ",
		"bullets": "- ", "numbers": "1. ", "rules": "* ", "tabs": "\t", "fences": "```\n", "underlines": "=",
		"NULs": "\x00", "not UTF-8": "\xff",
	} {
		texts[name] = strings.Repeat(unit, size/len(unit)+1)
	}

	var ticks, nest strings.Builder
	for n := 1; ticks.Len() < size; n++ {
		ticks.WriteString(strings.Repeat("`", n) + " ")
	}

	texts["ticks of every length"] = ticks.String()
	for nest.Len() < size/2 {
		nest.WriteString("- ")
	}

	texts["nest, then empty lines"] = nest.String() + strings.Repeat("\n", size/2)
	texts["keyword, then blanks"] = "closes" + texts["blanks"] + "#1"
	texts["tick, then comments"] = "text `" + texts["comments"]
	texts["number without end"] = "closes #" + texts["digits"]
	texts["nest, then blanks"] = strings.Repeat("> - ", 50) + texts["blanks"]

	return texts
}
