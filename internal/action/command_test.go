package action

import "testing"

// TestWhoseCommands: a command is a new comment on an issue or a pull request, by a person's own
// hand.
func TestWhoseCommands(t *testing.T) {
	const (
		issue  = `"issue":{"number":1}`
		person = `"user":{"login":"olga","type":"User"}`
	)

	for _, c := range []struct {
		name, payload string
		want          bool
	}{
		{"a person's", `{"action":"created",` + issue + `,"comment":{"body":"/hold",` + person + `}}`, true},
		{"edited", `{"action":"edited",` + issue + `,"comment":{"body":"/hold",` + person + `}}`, false},
		{"on a pull request", `{"action":"created","issue":{"number":1,"pull_request":{}},"comment":{"body":"/hold",` +
			person + `}}`, true},
		{"edited on a pull request", `{"action":"edited","issue":{"number":1,"pull_request":{}},"comment":{"body":"/hold",` + person + `}}`, false},
		{"an app's, in a person's name", `{"action":"created",` + issue + `,"comment":{"body":"/hold",` + person +
			`,"performed_via_github_app":{}}}`, false},
		{"a bot's", `{"action":"created",` + issue +
			`,"comment":{"body":"/hold","user":{"login":"x[bot]","type":"Bot"}}}`, false},
		{"a bot's with a person's name", `{"action":"created",` + issue +
			`,"comment":{"body":"/hold","user":{"login":"x","type":"Bot"}}}`, false},
		{"a bot's that is told as a person", `{"action":"created",` + issue +
			`,"comment":{"body":"/hold","user":{"login":"x[bot]","type":"User"}}}`, false},
		{"a deleted account's", `{"action":"created",` + issue +
			`,"comment":{"body":"/hold","user":{"login":"ghost","type":"User"}}}`, false},
		{"nobody's", `{"action":"created",` + issue + `,"comment":{"body":"/hold"}}`, false},
	} {
		e, err := ParseEvent("issue_comment", []byte(c.payload))
		if err != nil {
			t.Fatal(err)
		}

		if _, got := e.command(); got != c.want {
			t.Errorf("%s: a command: %v, want %v", c.name, got, c.want)
		}
	}
}
