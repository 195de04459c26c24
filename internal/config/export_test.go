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

// CallersKeys are the keys that are each caller's own, in the order of the table.
func CallersKeys() (out []string) {
	c := Default()
	for _, s := range settings(&c, &c) {
		if s.own {
			out = append(out, s.path)
		}
	}

	return out
}
