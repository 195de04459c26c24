package cli

import (
	"fmt"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// A LabelView is the JSON of one label the repository needs.
type LabelView struct {
	Repo   string `json:"repo,omitempty"`
	Name   string `json:"name"`
	Status string `json:"status"` // ok, missing, differs; after sync also created, updated
	Detail string `json:"detail,omitempty"`
}

// CompareLabels says of each label that should exist whether it is "ok", "differs" in its colour or
// is "missing" in the repository. Another label that has the description of a missing one, and no
// role now, seems to be its former name: to rename that one keeps it on all issues.
func CompareLabels(want, have []labels.Definition) []LabelView {
	var out []LabelView
	for _, w := range want {
		switch differs, found := w.Among(have); {
		case !found:
			out = append(out, LabelView{Name: w.Name, Status: "missing", Detail: OneLine(renamed(w, want, have))})
		case differs != "":
			out = append(out, LabelView{Name: w.Name, Status: "differs", Detail: OneLine(differs)})
		default:
			out = append(out, LabelView{Name: w.Name, Status: "ok"})
		}
	}

	return out
}

// renamed says how to rename what seems to be a missing label's former name.
func renamed(missing labels.Definition, want, have []labels.Definition) string {
	for _, h := range have {
		if _, wanted := h.Among(want); !wanted && h.Description == missing.Description {
			return fmt.Sprintf("renamed? On all issues: gh label edit %s --name %s", printable.ShellWord(h.Name),
				printable.ShellWord(missing.Name))
		}
	}

	return ""
}
