package hookfile

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A lefthookConfig is what matters here of a lefthook.yml: lefthook skips its commands when the
// branch that is checked out differs in no file from its upstream, so that only scripts run at
// every push.
type lefthookConfig struct {
	Extends     []string       `yaml:"extends"`
	SourceDir   string         `yaml:"source_dir"`
	SourceLocal string         `yaml:"source_dir_local"`
	PrePush     lefthookGroups `yaml:"pre-push"`
}

type lefthookGroups struct {
	Scripts map[string]lefthookScript `yaml:"scripts"`
	Jobs    []lefthookJob             `yaml:"jobs"`
}

type lefthookScript struct {
	Stdin bool `yaml:"use_stdin"`
}

type lefthookJob struct {
	Script         string `yaml:"script"`
	lefthookScript `yaml:",inline"`
	Group          struct {
		Jobs []lefthookJob `yaml:"jobs"`
	} `yaml:"group"`
}

const (
	lefthookText = shellLine + scriptText
	lefthookName = "label-state" // of our script, as docs/hook.md has it
)

// A Lack is what lefthook's files lack to run our hook at every push.
type Lack struct {
	Script string // the script that lefthook is to run, from the top of the worktree and with slashes
	Text   string // what the script has to be; empty when it is there

	// lefthook's configuration, from the top of the worktree; empty when a person has to change the
	// script first
	Config string
	Lines  string // what to add to it, each line ended
	Edited string // the whole configuration with the lines in it; empty where that takes a person
}

// underLefthook looks for a script for pre-push that runs our hook, in lefthook's folders, and for
// its name in lefthook's configuration.
func underLefthook(s State, top string) State {
	s.Manager = "lefthook"
	all, main := lefthookConfigs(top)
	named := map[string]bool{} // each script with whether it gets git's input
	folders := []string{".lefthook", ".lefthook-local"}
	for _, c := range all {
		c.PrePush.collect(named)
		folders = append(folders, c.SourceDir, c.SourceLocal)
	}

	found := lefthookScripts(top, folders) // by their names
	for _, name := range slices.Sorted(maps.Keys(found)) {
		s.Script = found[name]
		s.Lefthook = lackIn(top, main, name)
		if named[name] || path.Ext(main) == ".toml" && strings.Contains(read(filepath.Join(top, main)), s.Lefthook.Lines) {
			s.Lefthook = nil
			return s.by(read(filepath.Join(top, s.Script)), top)
		}

		if _, job := named[name]; job && !scriptNamed(all, name) { // a second entry would run it twice
			s.Lefthook.Lines, s.Lefthook.Edited = "use_stdin: true\n", ""
		}
	}

	if len(found) == 0 {
		s.Script, s.Text = ".lefthook/pre-push/"+lefthookName, lefthookText
		s.Lefthook = lackIn(top, main, lefthookName)
		s.Lefthook.Text = lefthookText
		if exists(filepath.Join(top, s.Script)) {
			s.Text, s.Lefthook = "", &Lack{Script: s.Script}
			s.Hint = "give " + s.Script + " another name, then: label-state init"
			return s
		}
	}

	s.Lefthook.Script = s.Script
	s.Hint = "label-state init, which shows what to add to " + main
	return s
}

// Displaced is our hook where lefthook has put it out of use, for a clone whose git directory and
// whose worktree's top these are; empty where it has not, or runs ours. It starts nothing.
func Displaced(gitDir, top string) string {
	hook := filepath.Join(gitDir, "hooks", "pre-push")
	if !isLefthook(read(hook)) || !prePush().marked(read(hook+lefthookMoved)) ||
		underLefthook(State{}, top).Kind == Delegated {
		return ""
	}
	return hook + lefthookMoved
}

// isLefthook knows the hooks that "lefthook install" writes.
func isLefthook(text string) bool { return strings.Contains(text, "call_lefthook ") }

// lefthookUsed reports whether there is a configuration of lefthook.
func lefthookUsed(top string) bool {
	_, main := lefthookConfigs(top)
	return exists(filepath.Join(top, main))
}

// scriptNamed reports whether one of the configurations has a script of that name for pre-push.
func scriptNamed(all []lefthookConfig, name string) bool {
	return slices.ContainsFunc(all, func(c lefthookConfig) bool {
		_, is := c.PrePush.Scripts[name]
		return is
	})
}

// lackIn is what the configuration lacks to run a script of that name with git's input.
func lackIn(top, config, name string) *Lack {
	l := &Lack{Config: config}
	switch path.Ext(config) {
	case ".toml":
		l.Lines = "[pre-push.scripts." + name + "]\nuse_stdin = true\n"
	case ".json":
		l.Lines = `"pre-push": {"scripts": {"` + name + `": {"use_stdin": true}}}` + "\n"
	default:
		l.Lines = "pre-push:\n  scripts:\n    " + name + ":\n      use_stdin: true\n"
		l.Edited = withScript(read(filepath.Join(top, config)), name)
	}

	return l
}

// lefthookScripts are the scripts for pre-push that run our hook: where they are, from the top of
// the worktree, by their names.
func lefthookScripts(top string, folders []string) map[string]string {
	found := map[string]string{}
	for _, folder := range folders {
		dir := filepath.Join(top, folder, "pre-push")
		entries, _ := os.ReadDir(dir) // no such folder, no scripts
		if folder == "" {
			continue
		}

		for _, e := range entries {
			if ours(read(filepath.Join(dir, e.Name())), top).word != "" {
				found[e.Name()] = path.Join(filepath.ToSlash(folder), "pre-push", e.Name())
			}
		}
	}

	return found
}

func (g lefthookGroups) collect(named map[string]bool) {
	for name, s := range g.Scripts {
		named[name] = named[name] || s.Stdin
	}

	for _, j := range g.Jobs {
		if j.Script != "" {
			named[j.Script] = named[j.Script] || j.Stdin
		}
		lefthookGroups{Jobs: j.Group.Jobs}.collect(named)
	}
}

// lefthookConfigs reads what lefthook would, in YAML or JSON, with what it extends; main is the
// name of the file to change. There is none where lefthook is not used.
func lefthookConfigs(top string) (all []lefthookConfig, main string) {
	for _, name := range []string{
		"lefthook", ".lefthook", ".config/lefthook", "lefthook-local", ".lefthook-local",
		".config/lefthook-local",
	} {
		for _, ending := range []string{".yml", ".yaml", ".json", ".toml"} {
			if !exists(filepath.Join(top, name+ending)) {
				continue
			}

			if main == "" {
				main = name + ending
			}
			one := lefthookFile(filepath.Join(top, name+ending))
			all = append(all, one)
			for _, pattern := range one.Extends {
				more, _ := fs.Glob(os.DirFS(top), path.Clean(pattern)) // only a bad pattern fails
				for _, file := range more {
					all = append(all, lefthookFile(filepath.Join(top, file)))
				}
			}
		}
	}

	if main == "" {
		main = "lefthook.yml"
	}

	return all, main
}

// lefthookFile is what could be read of a configuration; of TOML that is nothing.
func lefthookFile(file string) (out lefthookConfig) {
	if yaml.Unmarshal([]byte(read(file)), &out) != nil {
		return lefthookConfig{}
	}
	return out
}
