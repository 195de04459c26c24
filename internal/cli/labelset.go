package cli

import (
	"github.com/label-state/label-state/internal/labels"
)

// A LabelView is the JSON of one label the repository needs.
type LabelView struct {
	Repo   string `json:"repo,omitempty"`
	Name   string `json:"name"`
	Status string `json:"status"` // ok, missing, differs; after sync also created, updated
	Detail string `json:"detail,omitempty"`
}

// CompareLabels says of each label that should exist whether it is "ok", "differs" in its colour or
// is "missing" in the repository. Labels that are not asked for are not looked at.
func CompareLabels(want, have []labels.Definition) []LabelView {
	var out []LabelView
	for _, w := range want {
		switch differs, found := w.Among(have); {
		case !found:
			out = append(out, LabelView{Name: w.Name, Status: "missing"})
		case differs != "":
			out = append(out, LabelView{Name: w.Name, Status: "differs", Detail: OneLine(differs)})
		default:
			out = append(out, LabelView{Name: w.Name, Status: "ok"})
		}
	}

	return out
}
