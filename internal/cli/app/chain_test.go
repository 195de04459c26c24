package app

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// branch OWNER/REPO NAME [AT] puts a branch at a new commit, or at that one; "-" deletes it.
func branch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: branch OWNER/REPO NAME [AT]")
	}
	dir, err := worldOf(ts).GitDir(args[0])
	ts.Check(err)

	change := []string{"refs/heads/" + args[1], ""}
	switch {
	case len(args) == 2:
		change[1] = commitOn(ts, dir)
	case args[2] == "-":
		change = []string{"-d", change[0]}
	default:
		change[1] = args[2]
	}

	ts.Check(ts.Exec("git", append([]string{"--git-dir=" + dir, "update-ref"}, change...)...))
}

// merge PULL LOGIN merges it.
func merge(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 2)
	ts.Check(worldOf(ts).MergePull(i.Slug(), i.Number, args[1]))
}

// checked PULL NAME STATE sets a commit status, or with a CONCLUSION behind it a check run.
func checked(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 3)
	if len(args) == 3 {
		ts.Check(worldOf(ts).SetStatus(i.Slug(), i.Number, "olga", args[1], args[2]))
		return
	}
	ts.Check(worldOf(ts).SetCheck(i.Slug(), i.Number, "olga", args[1], args[2], args[3]))
}

// body PULL FILE writes its body there.
func body(ts *testscript.TestScript, neg bool, args []string) {
	i := issue(ts, neg, args, 2)
	now, err := worldOf(ts).Issue(i.Slug(), i.Number)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(now.Body+"\n"), 0o600))
}
