// Package agentsetup puts our hooks, our skill and our MCP server where a host of coding agents
// looks for them, sees whether they are there, and takes them away again, so that every file is
// what it was, byte for byte.
package agentsetup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/smallfile"
	"github.com/label-state/label-state/internal/state"
)

// A Place is where a host is set up: for a user, or for a repository. All folders are absolute.
type Place struct {
	Home   string              // the user's; required for a user's place
	Root   string              // top of the worktree; required for a repository's
	User   bool                // for every repository of the user
	State  string              // folder of our own in which what was changed is kept
	Getenv func(string) string // where hosts say that their folder is another one
}

// A Kind is what becomes of a file.
type Kind string

// The kinds. Theirs is a whole file of our name that we did not write, or that somebody has edited:
// it stays.
const (
	Same    Kind = "same"
	Created Kind = "create"
	Changed Kind = "change"
	Removed Kind = "remove"
	Theirs  Kind = "kept"
)

// A Step is one file on its way to what it shall be.
type Step struct {
	Path string
	Kind Kind
	What string // what the file is for
	Why  string // of Theirs: why it stays

	read []byte // what it is now
	text []byte // afterwards
	was  kept   // for the way back
}

// edited is why a whole file of our name stays: nobody knows what of it is somebody's work.
const edited = "written by somebody else, or edited since"

// A target is one file of a host.
type target struct {
	path string
	what string
	text string // the whole file; empty for a file of the host's own, in which our hooks and our server are entries

	server agenthost.Server // registered in the file; zero is none
}

// with is a file of the host's own with our entries.
func (t target) with(text []byte, h agenthost.Host) (out []byte, err error) {
	out = text
	if t.what == "hooks" {
		out, err = withHooks(text, h)
	}

	switch {
	case err != nil:
	case t.server.Table != "":
		out, err = withTable(out, t.server)
	case t.server.Key != "":
		out, err = withServer(out, t.server)
	}

	return out, err
}

// without is a file of the host's own without our entries, and whether there were any.
func (t target) without(text []byte, h agenthost.Host) (out []byte, found bool, err error) {
	out = text
	switch {
	case t.server.Table != "":
		out, found, err = withoutTable(text, t.server)
	case t.server.Key != "":
		out, found, err = withoutServer(text, t.server)
	}

	if err == nil && t.what == "hooks" {
		var hooks bool
		out, hooks, err = withoutHooks(out, h)
		found = found || hooks
	}

	return out, found, err
}

// everyTarget are the host's files: of hooks and skills, and where it looks for MCP servers.
func (p Place) everyTarget(h agenthost.Host) []target {
	out, f, server := p.files(h), h.Profile().Files, agenthost.MCPServer(h, p.User)
	at, base := f.Servers, p.Root
	if p.User {
		at, base = cmp.Or(f.UserServers, f.Servers), cmp.Or(p.named(f), p.Home)
	}

	below, inFolder := strings.CutPrefix(at, "./")
	switch {
	case at == "":
		out[0].server = server
		return out
	case inFolder:
		base = p.folder(f)
	}

	return append(out, target{path: filepath.Join(base, below), what: "mcp", server: server})
}

// named is the folder that the variable of a host names; empty where it names none.
func (p Place) named(f agenthost.Files) string {
	if dir := p.Getenv(f.Variable); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// folder is the host's own.
func (p Place) folder(f agenthost.Files) string {
	if !p.User {
		return filepath.Join(p.Root, f.Folder)
	}
	first, rest, _ := strings.Cut(cmp.Or(f.User, f.Folder), "/")
	return filepath.Join(cmp.Or(p.named(f), filepath.Join(p.Home, first)), rest)
}

// files are a host's files of hooks and skills.
func (p Place) files(h agenthost.Host) []target {
	f, base := h.Profile().Files, p.Root
	if p.User {
		base = p.Home
	}

	folder := p.folder(f)
	first := target{path: filepath.Join(folder, f.Hooks), what: "hooks"}
	if f.Whole != "" {
		first.path, first.text = filepath.Join(folder, f.Whole), cmp.Or(f.Text, agenthost.HookFile(h))
	}

	if f.Text != "" {
		first.what = "plugin"
	}

	if !f.Skills {
		folder = filepath.Join(base, ".agents")
	}

	skill := filepath.Join(folder, "skills", "label-state", "SKILL.md")
	return []target{first, {path: skill, what: "skill", text: agenthost.Skill()}}
}

// ofUser is the folder of the user's own settings of a host, for a place in a repository too.
func (p Place) ofUser(h agenthost.Host) string {
	p.User, p.Home = true, cmp.Or(p.Home, p.Getenv("HOME"))
	return p.folder(h.Profile().Files)
}

// SwitchedOff is the file by which the host runs no hooks at all; empty where none says so. A file
// that cannot be read says nothing.
func (p Place) SwitchedOff(h agenthost.Host) string {
	if h != agenthost.ClaudeCode {
		return ""
	}
	var files []string
	if p.Root != "" {
		files = []string{
			filepath.Join(p.Root, ".claude", "settings.local.json"),
			filepath.Join(p.Root, ".claude", "settings.json"),
		}
	}

	// the first that has it is the one that counts
	for _, file := range append(files, filepath.Join(p.ofUser(h), "settings.json")) {
		settings := claudeSettings(file)
		if off, said := settings["disableAllHooks"].(bool); off {
			return file
		} else if said {
			return ""
		}
	}

	return ""
}

// claudeSettings are the settings of Claude Code in a file; what cannot be read says nothing.
func claudeSettings(file string) map[string]any {
	text, _, _ := read(file)
	settings, _ := parseAny(text)
	return settings
}

// packaged reports whether the host has our plugin or extension, which registers the server: once
// is enough.
func (p Place) packaged(h agenthost.Host) bool {
	const plugin = "label-state@label-state"
	switch h {
	case agenthost.ClaudeCode:
		for _, dir := range []string{p.ofUser(h), filepath.Join(p.Root, ".claude")} {
			settings := claudeSettings(filepath.Join(dir, "settings.json"))
			if plugins, _ := settings["enabledPlugins"].(map[string]any); plugins[plugin] == true {
				return true
			}
		}

	case agenthost.Codex:
		text, _, _ := read(filepath.Join(p.ofUser(h), "config.toml"))
		plugins, _ := tableAt(text, "plugins")
		entry, _ := plugins[plugin].(map[string]any)
		return entry["enabled"] == true

	case agenthost.Gemini:
		_, err := os.Stat(filepath.Join(p.ofUser(h), "extensions", "label-state"))
		return err == nil
	}

	return false
}

// Install returns what installing would do to each file. Where all is as it shall be every step is
// Same.
func (p Place) Install(h agenthost.Host) ([]Step, error) {
	targets := p.everyTarget(h)
	if p.packaged(h) { // its package has the server
		targets = p.files(h)
	}
	return p.steps(h, targets, p.install)
}

// Uninstall returns what uninstalling would do to each file. A file that nobody has touched since
// becomes what it was; of one that was edited only what is ours is taken out.
func (p Place) Uninstall(h agenthost.Host) ([]Step, error) {
	return p.steps(h, p.everyTarget(h), p.uninstall) // the package may have come after the installation
}

// steps looks at each target. The server stays out of a file that is too large: a host keeps its
// history there, and its hooks are elsewhere.
func (p Place) steps(h agenthost.Host, targets []target,
	look func(agenthost.Host, target, notes) (Step, error),
) ([]Step, error) {
	n, err := p.load(h)
	if err != nil {
		return nil, err
	}

	var out []Step
	for _, t := range targets {
		s, err := look(h, t, n)
		var large smallfile.Large
		switch {
		case t.what == "mcp" && errors.As(err, &large):
			s = Step{
				Path: t.path,
				What: t.what,
				Kind: Theirs,
				Why:  "too large",
			}
		case err != nil:
			return nil, fmt.Errorf("%s: %w", t.path, err)
		}

		out = append(out, s)
	}

	return out, nil
}

// lineEnds gives a text the line ends of what it was made from, where those are all as in Windows.
func lineEnds(from, text []byte) []byte {
	dos, unix := []byte("\r\n"), []byte("\n")
	if n := bytes.Count(from, dos); n == 0 || n != bytes.Count(from, unix) {
		return text
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(text, dos, unix), unix, dos)
}

func (p Place) install(h agenthost.Host, t target, n notes) (Step, error) {
	s := Step{Path: t.path, What: t.what}
	text, there, err := read(t.path)
	if err != nil {
		return s, err
	}

	s.read = text
	s.was = kept{Path: t.path, Existed: there, Before: text}
	old, ours := n.find(t.path)
	ours = ours && there && old.After == state.Fingerprint(text)
	if ours {
		s.was = old
	} else if other, _ := p.other(h, t.path); other.After == state.Fingerprint(text) {
		s.was, ours = other, true // another host of ours wrote it
	}

	switch {
	case t.text == "":
		var own []byte
		own, _, err = t.without(text, h)
		from := text // which stays where nothing is missing
		switch {
		case !ours:
			s.was.Before = own
		case !bytes.Equal(own, s.was.Before): // an entry of an earlier version's may be left in it
			from = s.was.Before
		}

		if err == nil {
			s.text, err = t.with(from, h)
			s.text = lineEnds(from, s.text)
		}

	case there && !ours && string(text) != t.text:
		s.Kind, s.Why = Theirs, edited
		return s, nil

	default:
		s.text = []byte(t.text)
	}

	if err != nil {
		return s, err
	}
	s.was.After = state.Fingerprint(s.text)

	switch {
	case !there:
		s.Kind = Created
	case bytes.Equal(text, s.text):
		s.Kind = Same
	default:
		s.Kind = Changed
	}

	return s, nil
}

func (p Place) uninstall(h agenthost.Host, t target, n notes) (Step, error) {
	s := Step{Path: t.path, What: t.what, Kind: Same}
	text, there, err := read(t.path)
	if err != nil || !there {
		return s, err
	}

	s.read = text
	old, known := n.find(t.path)
	untouched := known && old.After == state.Fingerprint(text)
	_, elsewhere := p.other(h, t.path)
	switch {
	case elsewhere:
	case untouched && old.Existed:
		s.Kind, s.text = Changed, old.Before
	case untouched:
		s.Kind = Removed
	case t.text == "":
		var found bool
		if s.text, found, err = t.without(text, h); found {
			s.Kind = Changed
		}
	case string(text) == t.text:
		s.Kind = Removed // a clone of a repository that has it: no notes are here
	default:
		s.Kind, s.Why = Theirs, edited
	}

	if s.Kind == Changed && bytes.Equal(text, s.text) {
		s.Kind = Same
	}

	if t.text == "" && names(s.text) {
		s.Why = "what else it says of label-state stays, because it is edited or somebody else's"
		if s.Kind == Same {
			s.Kind = Theirs
		}
	}

	return s, err
}

// names reports whether a file of the host's own names our hooks or our server.
func names(text []byte) bool {
	for _, name := range []string{mark, `"` + agenthost.ServerName + `"`, "." + agenthost.ServerName + "]"} {
		if bytes.Contains(text, []byte(name)) {
			return true
		}
	}
	return false
}

// Carry carries out the steps of Install.
func (p Place) Carry(h agenthost.Host, steps []Step) error {
	n, err := p.load(h)
	if err != nil {
		return err
	}

	for _, s := range steps {
		if s.Kind == Theirs {
			continue
		}
		n.Files = append(slices.DeleteFunc(n.Files, func(k kept) bool { return k.Path == s.was.Path }), s.was)
		if s.Kind == Created {
			n.Dirs = append(n.Dirs, state.Missing(filepath.Dir(s.Path))...)
		}
	}

	for _, o := range agenthost.Hosts() { // who goes last takes away the folders that they share
		if its, err := p.load(o); err == nil {
			n.Dirs = append(n.Dirs, its.Dirs...)
		}
	}

	slices.Sort(n.Dirs) // outermost first
	n.Dirs = slices.Compact(n.Dirs)
	if err := p.save(h, n); err != nil { // before anything is changed, so that there always is a way back
		return err
	}

	return p.carryOut(steps)
}

// carryOut does what the steps say, but for a file that is another than the one that was looked at:
// hosts write to their own files.
func (p Place) carryOut(steps []Step) error {
	for _, s := range steps {
		if s.Kind == Same || s.Kind == Theirs {
			continue
		}

		text, _, err := read(s.Path)
		switch {
		case err != nil:
		case !bytes.Equal(text, s.read):
			err = errors.New("it changed in the meantime and was left alone")
		case s.Kind == Removed:
			err = os.Remove(s.Path)
		default:
			err = write(s.Path, s.text, p.mode())
		}

		if err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
	}

	return nil
}

// mode is that of new files: what is in a home folder is its owner's alone.
func (p Place) mode() fs.FileMode {
	if p.User {
		return 0o600
	}
	return 0o644
}

// TakeBack carries out the steps of Uninstall.
func (p Place) TakeBack(h agenthost.Host, steps []Step) error {
	n, err := p.load(h)
	if err != nil {
		return err
	}

	if err := p.carryOut(steps); err != nil {
		return err
	}

	for _, dir := range slices.Backward(n.Dirs) {
		_ = os.Remove(dir) // one that has something in it stays
	}

	if err := os.Remove(p.file(h)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", p.file(h), err)
	}
	_ = os.Remove(filepath.Dir(p.file(h)))

	return nil
}

// Installed reports how much of a host's files is there: all, some or none. A skill of somebody's
// own is there. A file that another host reads as well is not some of them by itself. stays is the
// first whole file of hooks that installing leaves alone because somebody has edited it.
func (p Place) Installed(h agenthost.Host) (all, some bool, stays string, err error) {
	steps, err := p.Install(h)
	if err != nil {
		return false, false, "", err
	}

	all = true
	for _, s := range steps {
		all = all && (s.Kind == Same || s.Kind == Theirs && s.isExtra())
		if s.Kind == Theirs && !s.isExtra() {
			stays = cmp.Or(stays, s.Path)
		}

		if s.What == "skill" || p.sharedFile(h, s.Path) {
			continue
		}

		if s.Kind == Same {
			some = true
		}

		if s.Kind == Changed || s.Kind == Theirs {
			some = some || bytes.Contains(s.read, []byte(mark))
		}
	}

	return all, some, stays, nil
}

// Kept is a file whose lines about label-state are a person's, where nothing of label-state's own
// is left for uninstalling to change, as after an Uninstall that kept them; else it is empty.
func (p Place) Kept(h agenthost.Host) (file string, err error) {
	steps, err := p.Uninstall(h)
	for _, s := range steps {
		switch s.Kind {
		case Same:
		case Theirs:
			file = cmp.Or(file, s.Path)
		default:
			return "", err
		}
	}

	return file, err
}

// isExtra reports whether a host runs our hooks also where somebody has a file of their own in its
// place.
func (s Step) isExtra() bool { return s.What == "mcp" || s.What == "skill" }

// sharedFile reports whether another host reads the file as well.
func (p Place) sharedFile(h agenthost.Host, path string) bool {
	for _, o := range agenthost.Hosts() {
		if o != h && slices.ContainsFunc(p.everyTarget(o), func(t target) bool { return t.path == path }) {
			return true
		}
	}
	return false
}
