package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// meant words the nearest known name; near may be empty.
func meant(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

// Meant asks whether the nearest of the known words was meant; empty where none is near.
func Meant(known []string, word string) string { return meant(nearest(known, word)) }

// nearest is the known word that was probably meant: the one that means the same where the nearest
// in letters would mean another thing, or none is near; empty where neither is known.
func nearest(known []string, word string) string {
	same := map[string]string{
		"drop":    "release",
		"failed":  "failure",
		"list":    "next --list",
		"mine":    "status --mine",
		"take":    "claim",
		"unclaim": "release",
	}[strings.ToLower(word)]
	if first, _, _ := strings.Cut(same, " "); slices.Contains(known, first) {
		return same
	}

	return printable.Nearest(known, word)
}
