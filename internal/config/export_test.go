package config

import "encoding/json"

// Schema returns the JSON schema of the file, for editors (draft 7).
func Schema() ([]byte, error) {
	c := Default()
	s := newFile(&c).keys().schema
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "label-state: " + Path
	out, err := json.MarshalIndent(s, "", "  ")
	return append(out, '\n'), err
}

// SharedKeys are the keys that the default branch decides.
func SharedKeys() (out []string) {
	for _, s := range shared() {
		out = append(out, s.path)
	}
	return out
}

// CallersKeys are the keys that are each caller's own.
func CallersKeys() (out []string) {
	for _, p := range callers() {
		out = append(out, p.path)
	}
	return out
}
