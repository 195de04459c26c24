package action

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Inputs are the step's settings, as action.yml names them.
type Inputs struct {
	Token            string
	Mode             string
	Repos            []string // owner/name; empty is the repository of the workflow
	MaxAge           time.Duration
	DryRun           bool
	Guard            string // off, warn or fail; empty leaves it to the configuration
	Config           string
	APIURL           string
	FailOnIncomplete bool
}

// An InputError is a setting that makes no sense. Nothing was read or written.
type InputError struct{ Name, Value, Allowed string }

func (e *InputError) Error() string {
	return fmt.Sprintf("input %s: %q; allowed: %s", e.Name, e.Value, e.Allowed)
}

// modes are what the mode input may say.
var modes = [...]string{modeAuto, modeSweep, modeLifecycle, modeGuard, modeReconcile, modeCommands, modeSetup}

// ReadInputs reads the step's settings through get, which returns an input by name.
func ReadInputs(get func(string) string) (Inputs, error) {
	in := Inputs{
		Token:  get("token"),
		Mode:   cmp.Or(get("mode"), modeAuto),
		Repos:  strings.FieldsFunc(get("repos"), func(r rune) bool { return strings.ContainsRune(", \n\t\r", r) }),
		Guard:  get("guard"),
		Config: get("config"),
		APIURL: get("api-url"),
	}

	if !slices.Contains(modes[:], in.Mode) {
		return in, &InputError{"mode", in.Mode, strings.Join(modes[:], ", ")}
	}
	if !slices.Contains([]string{"", guardOff, guardWarn, guardFail}, in.Guard) {
		return in, &InputError{"guard", in.Guard, "off, warn, fail"}
	}

	if text := get("max-age-hours"); text != "" { // fractions too, above zero and at most a year
		h, err := strconv.ParseFloat(text, 64)
		in.MaxAge = time.Duration(h * float64(time.Hour))
		if err != nil || math.IsNaN(h) || h > 24*365 || in.MaxAge < time.Second {
			return in, &InputError{"max-age-hours", text, "a number of hours above 0, such as 4 or 0.5"}
		}
	}

	var err error
	if in.DryRun, err = truth("dry-run", cmp.Or(get("dry-run"), "false")); err != nil {
		return in, err
	}

	in.FailOnIncomplete, err = truth("fail-on-incomplete", cmp.Or(get("fail-on-incomplete"), "true"))
	return in, err
}

// truth reads a boolean as YAML 1.2 spells it.
func truth(name, s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}

	return false, &InputError{name, s, "true, false"}
}
