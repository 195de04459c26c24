package cli

import (
	"fmt"
	"testing"
)

type animal struct {
	Name string `json:"name"`
	Legs int    `json:"legs"`
}

type stable struct {
	animal
	Horses []struct {
		animal
		Foals []*animal `json:"foals"`
	} `json:"horses"`
	Own self `json:"own"`
}

type self struct{}

func (*self) UnmarshalJSON([]byte) error { return nil }

func TestUnknownKey(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "<nil>",
		`{"name": "x", "LEGS": 4, "horses": [{"name": "y", "foals": [null, {}]}], "own": {"any": 1}}`: "<nil>",
		`{"horses": [{}, {"foals": [{"nmae": "z"}]}]}`:                                                `horses.1.foals.0.nmae: unknown key; did you mean "name"?`,
		`{"horses": [{"planets": 1}]}`:                                                                `horses.0.planets: unknown key; allowed: name, legs, foals`,
		`{"oops\u001b": 1, "horses": 3}`:                                                              "oops: unknown key; allowed: name, legs, horses, own",
		`{"horses": 3}`:                                                                               "<nil>",
		`[{"a": 1}]`:                                                                                  "<nil>",
		`{"oops": `:                                                                                   "<nil>",
	} {
		if got := fmt.Sprint(UnknownKey([]byte(text), &stable{})); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
