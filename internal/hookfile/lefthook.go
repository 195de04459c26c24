package hookfile

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// A lefthookConfig is what matters here of a lefthook.yml: lefthook skips its commands when the branch that is checked out
// differs in no file from its upstream, so that only scripts run at every push.
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
	lefthookText = "#!/bin/sh\n" + scriptText
	lefthookName = "label-state" // of our script, as docs/hook.md has it
)

// underLefthook looks for a script for pre-push that runs our hook, in lefthook's folders, and for its name in lefthook's configuration.
func underLefthook(top string) manager {
	m := manager{name: "lefthook", reason: "lefthook writes this file anew"}
	all, main := lefthookConfigs(top)
	named := map[string]bool{} // each script with whether it gets git's input
	folders := []string{".lefthook", ".lefthook-local"}
	for _, c := range all {
		c.PrePush.collect(named)
		folders = append(folders, c.SourceDir, c.SourceLocal)
	}
	found := map[string]string{} // where our scripts are, by their names
	for _, folder := range folders {
		dir := filepath.Join(top, folder, "pre-push")
		entries, err := os.ReadDir(dir)
		if folder == "" || err != nil {
			continue // no such folder, no scripts
		}
		for _, e := range entries {
			if ours(read(filepath.Join(dir, e.Name())), top) != "" {
				found[e.Name()] = path.Join(filepath.ToSlash(folder), "pre-push", e.Name())
			}
		}
	}
	m.hint = "add to " + main + ", under pre-push:  scripts: {" + lefthookName + ": {use_stdin: true}}"
	if len(found) == 0 {
		m.script, m.text = ".lefthook/pre-push/"+lefthookName, lefthookText
		m.hint = "label-state init writes " + m.script + "; " + m.hint
		if exists(filepath.Join(top, m.script)) {
			m.text, m.hint = "", "have "+m.script+" run  "+guarded
		}
		return m
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		stdin, is := named[name]
		m.script = found[name]
		switch {
		case stdin:
			text := read(filepath.Join(top, m.script))
			if slices.Contains(shipped, text) {
				m.text = lefthookText
			}
			return m.by(text, top)
		case is:
			m.hint = "add  use_stdin: true  to the script " + name + " in " + main
			return m
		}
		m.hint = "add to " + main + ", under pre-push:  scripts: {" + name + ": {use_stdin: true}}"
	}
	return m
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

// lefthookConfigs reads what lefthook would, in YAML or JSON, with what it extends; main is the name of the file to change.
func lefthookConfigs(top string) (all []lefthookConfig, main string) {
	for _, name := range []string{"lefthook", ".lefthook", ".config/lefthook", "lefthook-local", ".lefthook-local", ".config/lefthook-local"} {
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
	if filepath.Ext(file) == ".toml" || yaml.Unmarshal([]byte(read(file)), &out) != nil {
		return lefthookConfig{}
	}
	return out
}
