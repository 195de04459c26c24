package agentsetup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/label-state/label-state/internal/agenthost"
)

// mark is in every file and in every hook of ours; others may speak of it.
const mark = "label-state agent event "

// withHooks returns the text of a settings file with our entries below their events, and the same
// text where they are there already. Comments, order and everything else of it stay. An empty text
// is a new file.
func withHooks(text []byte, h agenthost.Host) ([]byte, error) {
	if there, err := hasHooks(text, h); err != nil || there {
		return text, err
	}
	text, _, err := withoutHooks(text, h) // of another version, or not all of them
	if err != nil {
		return nil, err
	}

	root, top, err := parseObject(text)
	if err != nil {
		return nil, err
	}

	indent := indentOf(text)
	if h.Profile().Version && find(top, "version") == nil {
		add(top, "version", hujson.Value{Value: hujson.Int(1)}, "", indent)
	}

	hooks, err := objectAt(top, "hooks", "", indent)
	if err != nil {
		return nil, err
	}

	for _, e := range agenthost.Entries(h) {
		if find(hooks, e.Event) == nil {
			add(hooks, e.Event, hujson.Value{Value: &hujson.Array{}}, indent, indent)
		}
		list, ok := find(hooks, e.Event).(*hujson.Array)
		if !ok {
			return nil, fmt.Errorf("hooks.%s is not a list", e.Event)
		}

		value, err := hujson.Parse(laidOut(e.Value, strings.Repeat(indent, 3), indent))
		if err != nil {
			return nil, err
		}

		value.AfterExtra = nil // behind the last one, on a line of its own
		if n := len(list.Elements); n > 0 {
			value.AfterExtra = comma(list.Elements[n-1])
		}

		value.BeforeExtra = seam(&list.AfterExtra, indent+indent, indent)
		list.Elements = append(list.Elements, value)
	}

	return root.Pack(), nil
}

// hasHooks reports whether each of our entries is in the text once, whatever its user has put
// beside it, and no other entry of ours is.
func hasHooks(text []byte, h agenthost.Host) (bool, error) {
	_, top, err := parseObject(text)
	if err != nil {
		return false, err
	}

	at := hujson.Value{Value: find(top, "hooks")}
	if at.Value == nil {
		return false, nil
	}

	ours := 0
	for v := range at.All() {
		if isOurs(v.Value, h) {
			ours++
		}
	}

	doc, err := parseAny(text)
	if err != nil {
		return false, err
	}

	hooks, _ := doc["hooks"].(map[string]any)
	entries := agenthost.Entries(h)
	for _, e := range entries {
		var want map[string]any
		if err := json.Unmarshal(e.Value, &want); err != nil {
			return false, err
		}

		list, _ := hooks[e.Event].([]any)
		there := slices.ContainsFunc(list, func(one any) bool {
			have, _ := one.(map[string]any)
			inner, _ := have["hooks"].([]any)
			wanted, grouped := want["hooks"].([]any)
			if !grouped {
				return reflect.DeepEqual(have, want)
			}

			return len(have) == len(want) && have["matcher"] == want["matcher"] &&
				slices.ContainsFunc(inner, func(hook any) bool { return reflect.DeepEqual(hook, wanted[0]) })
		})

		if !there {
			return false, nil
		}
	}

	return ours == len(entries), nil
}

// isOurs reports whether a value is a hook that runs exactly our command for the host.
func isOurs(v hujson.ValueTrimmed, h agenthost.Host) bool {
	hook, ok := v.(*hujson.Object)
	if !ok {
		return false
	}
	line, ok := find(hook, "command").(hujson.Literal)
	return ok && line.String() == agenthost.Command(h)
}

// withoutHooks returns the text without our entries, and whether there were any. Events and hooks
// that are empty then go as well.
func withoutHooks(text []byte, h agenthost.Host) ([]byte, bool, error) {
	root, top, err := parseObject(text)
	if err != nil {
		return nil, false, err
	}

	hooks, ok := find(top, "hooks").(*hujson.Object)
	if !ok {
		return text, false, nil
	}

	found := false
	for n := len(hooks.Members) - 1; n >= 0; n-- {
		list, ok := hooks.Members[n].Value.Value.(*hujson.Array)
		if !ok || !cutOurs(list, h) {
			continue
		}

		found = true
		if len(list.Elements) == 0 {
			cutMember(hooks, n)
		}
	}

	if !found {
		return text, false, nil
	}

	if len(hooks.Members) == 0 {
		cutMember(top, index(top, "hooks"))
	}

	return root.Pack(), true, nil
}

// cutOurs takes our hooks out of a list, and reports whether there were any. A group of hooks goes
// when nothing is left in it but a matcher.
func cutOurs(list *hujson.Array, h agenthost.Host) (found bool) {
	for n := len(list.Elements) - 1; n >= 0; n-- {
		if isOurs(list.Elements[n].Value, h) {
			cut(list, n)
			found = true
			continue
		}

		group, ok := list.Elements[n].Value.(*hujson.Object)
		if !ok {
			continue
		}

		inner, ok := find(group, "hooks").(*hujson.Array)
		if !ok || !cutOurs(inner, h) {
			continue
		}

		found = true
		if len(inner.Elements) == 0 &&
			(len(group.Members) == 1 || len(group.Members) == 2 && find(group, "matcher") != nil) {
			cut(list, n)
		}
	}

	return found
}

// withServer returns the text with the MCP server registered. An entry of that name that is there
// already stays as it is.
func withServer(text []byte, s agenthost.Server) ([]byte, error) {
	if len(text) == 0 {
		text = []byte(s.New)
	}

	root, top, err := parseObject(text)
	if err != nil {
		return nil, err
	}

	indent := indentOf(text)
	servers, err := objectAt(top, s.Key, "", indent)
	if err != nil || find(servers, agenthost.ServerName) != nil {
		return text, err
	}

	value, err := hujson.Parse(laidOut(s.Value, indent+indent, indent))
	if err != nil {
		return nil, err
	}

	add(servers, agenthost.ServerName, value, indent, indent)
	return root.Pack(), nil
}

// withoutServer returns the text without our entry, and whether it was there. An entry that
// somebody has changed stays; a list of servers that is empty then goes as well.
func withoutServer(text []byte, s agenthost.Server) ([]byte, bool, error) {
	root, top, err := parseObject(text)
	if err != nil {
		return nil, false, err
	}

	servers, ok := find(top, s.Key).(*hujson.Object)
	if !ok {
		return text, false, nil
	}

	ours := index(servers, agenthost.ServerName)
	if ours < 0 || !equal(servers.Members[ours].Value, s.Value) {
		return text, false, nil
	}

	cutMember(servers, ours)
	if len(servers.Members) == 0 {
		cutMember(top, index(top, s.Key))
	}

	return root.Pack(), true, nil
}

// equal reports whether two values are the same JSON, however they are laid out.
func equal(v hujson.Value, want json.RawMessage) bool {
	v = v.Clone()
	v.Minimize()
	var b bytes.Buffer
	return json.Compact(&b, want) == nil && bytes.Equal(v.Pack(), b.Bytes())
}

// parseObject reads JSON with comments whose top is an object; nothing at all is an empty one. A
// key that appears twice in one object is an error: one of the two is not read, and it differs
// which.
func parseObject(text []byte) (root hujson.Value, top *hujson.Object, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return root, nil, errors.New("it begins with a byte order mark, which JSON has not; save it without one")
	}

	root, err = hujson.Parse(text)
	if err != nil {
		return root, nil, fmt.Errorf("it is not valid JSON: %w", err)
	}

	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return root, nil, errors.New("it is not a JSON object")
	}

	for v := range root.All() {
		object, _ := v.Value.(*hujson.Object)
		seen := map[string]bool{}
		for n := 0; object != nil && n < len(object.Members); n++ {
			name, _ := object.Members[n].Name.Value.(hujson.Literal)
			if seen[name.String()] {
				return root, nil, fmt.Errorf("the key %q appears twice in one object; leave one of them", name.String())
			}
			seen[name.String()] = true
		}
	}

	return root, top, nil
}

// parseAny reads JSON with comments into maps.
func parseAny(text []byte) (map[string]any, error) {
	root, _, err := parseObject(bytes.Clone(text)) // Standardize writes into it
	if err != nil {
		return nil, err
	}

	root.Standardize()
	var out map[string]any
	err = json.Unmarshal(root.Pack(), &out)
	return out, err
}

// indentOf is what the file indents its first line by; two spaces where it has none.
func indentOf(text []byte) string {
	for line := range strings.Lines(string(text)) {
		body := strings.TrimLeft(line, " \t")
		if space := line[:len(line)-len(body)]; space != "" && strings.HasPrefix(body, `"`) {
			return space
		}
	}

	return "  "
}

// laidOut is a value over several lines, each but the first behind the prefix.
func laidOut(value json.RawMessage, prefix, indent string) []byte {
	var b bytes.Buffer
	if json.Indent(&b, value, prefix, indent) != nil {
		return value
	}
	return b.Bytes()
}

// index is where the member of that key is; -1 where there is none.
func index(o *hujson.Object, key string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		name, ok := m.Name.Value.(hujson.Literal)
		return ok && name.String() == key
	})
}

// find is the value of that key; nil where there is none.
func find(o *hujson.Object, key string) hujson.ValueTrimmed {
	if n := index(o, key); n >= 0 {
		return o.Members[n].Value.Value
	}
	return nil
}

// objectAt is the object below the key; it is made where there is none. depth is the indentation of
// the object around it.
func objectAt(o *hujson.Object, key, depth, indent string) (*hujson.Object, error) {
	if find(o, key) == nil {
		add(o, key, hujson.Value{Value: &hujson.Object{}}, depth, indent)
	}
	out, ok := find(o, key).(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", key)
	}

	return out, nil
}

// add puts a member behind the last one, on a line of its own.
func add(o *hujson.Object, key string, value hujson.Value, depth, indent string) {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}, Value: value}
	m.Value.BeforeExtra = hujson.Extra(" ")
	if n := len(o.Members); n > 0 {
		m.Value.AfterExtra = comma(o.Members[n-1].Value)
	}

	m.Name.BeforeExtra = seam(&o.AfterExtra, depth, indent)
	o.Members = append(o.Members, m)
}

// comma is what follows a new last value: a comma only where one stood behind the value that was
// last.
func comma(last hujson.Value) hujson.Extra {
	if last.AfterExtra == nil {
		return nil
	}
	return hujson.Extra{}
}

// seam is what stands before a new last part: what stood before the bracket, which may be a
// comment, and a line of its own.
func seam(end *hujson.Extra, depth, indent string) hujson.Extra {
	before := strings.TrimRight(string(*end), " \t\r\n") + "\n" + depth + indent
	*end = hujson.Extra("\n" + depth)
	return hujson.Extra(before)
}

// unseam puts a comment that stood before a part that goes before what follows.
func unseam(before hujson.Extra, next *hujson.Extra) {
	if comment := strings.TrimRight(string(before), " \t\r\n"); comment != "" {
		*next = append(hujson.Extra(comment), *next...)
	}
}

// cut takes an element out. The list ends in a comma afterwards if it did before.
func cut(a *hujson.Array, n int) {
	list := a.Elements
	next := &a.AfterExtra
	if n+1 < len(list) {
		next = &list[n+1].BeforeExtra
	} else if n > 0 && list[n].AfterExtra == nil {
		list[n-1].AfterExtra = nil
	}

	unseam(list[n].BeforeExtra, next)
	a.Elements = slices.Delete(list, n, n+1)
}

// cutMember takes a member out as cut does.
func cutMember(o *hujson.Object, n int) {
	list := o.Members
	next := &o.AfterExtra
	if n+1 < len(list) {
		next = &list[n+1].Name.BeforeExtra
	} else if n > 0 && list[n].Value.AfterExtra == nil {
		list[n-1].Value.AfterExtra = nil
	}

	unseam(list[n].Name.BeforeExtra, next)
	o.Members = slices.Delete(list, n, n+1)
}
