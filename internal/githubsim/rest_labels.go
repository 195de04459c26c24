package githubsim

import (
	"encoding/json"
	"slices"
	"strings"
)

func labelRoutes() map[string]endpoint {
	return map[string]endpoint{
		"GET /R/labels":                           listLabels,
		"POST /R/labels":                          postLabel,
		"GET /R/labels/{name}":                    getLabel,
		"PATCH /R/labels/{name}":                  patchLabel,
		"DELETE /R/labels/{name}":                 deleteLabel,
		"GET /R/issues/{number}/labels":           listIssueLabels,
		"POST /R/issues/{number}/labels":          postIssueLabels,
		"PUT /R/issues/{number}/labels":           putIssueLabels,
		"DELETE /R/issues/{number}/labels":        clearIssueLabels,
		"DELETE /R/issues/{number}/labels/{name}": deleteIssueLabel,
	}
}

func listLabels(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	labels := r.labelsIn(c.view)
	slices.SortStableFunc(labels, func(a, b label) int {
		return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	})

	return ok(c.labelsJSON(r, paged(c, labels)))
}

func getLabel(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	l, found := r.label(c.view, c.params["name"])
	if !found {
		return answer{}, notFound()
	}

	return ok(c.labelJSON(r, l))
}

func postLabel(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		Name, Color string
		Description *string
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}

	if sent.Color == "" {
		sent.Color = defaultLabelColor
	}
	l, err := c.createLabel(c.who, r, label{name: sent.Name, color: sent.Color, description: sent.Description})
	if err != nil {
		return answer{}, err
	}

	return created(c.labelJSON(r, l))
}

func patchLabel(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		NewName     string `json:"new_name"`
		Name, Color string
		Description *string
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	l, err := c.updateLabel(c.who, r, c.params["name"], func(l *label) {
		if sent.NewName != "" {
			l.name = sent.NewName
		}

		if sent.Color != "" {
			l.color = sent.Color
		}

		if sent.Description != nil {
			l.description = sent.Description
		}
	})
	if err != nil {
		return answer{}, err
	}

	return ok(c.labelJSON(r, l))
}

func deleteLabel(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}
	if err := c.store.deleteLabel(c.who, r, c.params["name"]); err != nil {
		return answer{}, err
	}

	return nothing()
}

func listIssueLabels(c *call) (answer, error) {
	t, now, err := c.target()
	if err != nil {
		return answer{}, err
	}
	return ok(c.labelsJSON(t.repo, paged(c, t.repo.labelsOf(c.view, now))))
}

// sentLabels reads {"labels": […]} or a bare list, of names or of objects with a name.
func (c *call) sentLabels() ([]string, error) {
	var raw json.RawMessage
	if err := c.decode(&raw); err != nil {
		return nil, err
	}

	var wrapped struct{ Labels []labelName }
	if json.Unmarshal(raw, &wrapped) == nil {
		return names(wrapped.Labels), nil
	}

	var bare []labelName
	if err := json.Unmarshal(raw, &bare); err != nil {
		return nil, unprocessable("Invalid request.\n\nNo subschema in \"anyOf\" matched.")
	}

	return names(bare), nil
}

// A labelName is a label as requests name it: a string, or an object with a name.
type labelName string

// UnmarshalJSON implements json.Unmarshaler.
func (n *labelName) UnmarshalJSON(text []byte) error {
	var name string
	if json.Unmarshal(text, &name) == nil {
		*n = labelName(name)
		return nil
	}

	var whole struct{ Name string }
	if err := json.Unmarshal(text, &whole); err != nil {
		return err
	}

	*n = labelName(whole.Name)
	return nil
}

func names(list []labelName) []string {
	plain := make([]string, 0, len(list))
	for _, n := range list {
		plain = append(plain, string(n))
	}
	return plain
}

func postIssueLabels(c *call) (answer, error) { return c.changeLabels(c.labelIssue) }

func putIssueLabels(c *call) (answer, error) { return c.changeLabels(c.relabelIssue) }

// changeLabels applies the labels that were sent and answers with those that the issue has then.
func (c *call) changeLabels(apply func(actor, *thread, []string) error) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}

	sent, err := c.sentLabels()
	if err != nil {
		return answer{}, err
	}
	if err := apply(c.who, t, sent); err != nil {
		return answer{}, err
	}

	return ok(c.labelsJSON(t.repo, t.repo.labelsOf(present(), t.state.now())))
}

func clearIssueLabels(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}
	if err := c.relabelIssue(c.who, t, nil); err != nil {
		return answer{}, err
	}

	return nothing()
}

func deleteIssueLabel(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}
	if err := c.unlabelIssue(c.who, t, c.params["name"]); err != nil {
		return answer{}, err
	}

	return ok(c.labelsJSON(t.repo, t.repo.labelsOf(present(), t.state.now())))
}
