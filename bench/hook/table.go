package main

import (
	"fmt"
	"io"
	"time"
)

// header explains the table that follows it.
const header = `medians of interleaved rounds; :all and :likely: medians of the rounds' ratios, with the most that is allowed.
all: git rev-list NEW --not --remotes=origin
likely: git rev-list --header --encoding=none NEW --not OLD origin/HEAD origin/main; of the first two rows: git version
memory: the peak of the hook, or of a git that it starts

`

const columns = "  %-44s %10s %10s %10s %8s %8s %-10s %8s\n"

func printHead(w io.Writer, r *repository) {
	title := fmt.Sprintf("%s: %d commits, %d branches of the remote", r.name, r.shape.commits, r.shape.branches+4)
	if r.shape.graph {
		title += ", commit-graph"
	}
	fmt.Fprintln(w, title)
	fmt.Fprintf(w, columns, "", "hook", "all", "likely", ":all", ":likely", "", "memory")
}

func printRow(w io.Writer, s scenario, most float64, m sample) {
	memory := fmt.Sprintf("%.1f MB", float64(m.peak)/1e6)
	fmt.Fprintf(w, columns, s.name, milliseconds(m.took[0]), milliseconds(m.took[1]), milliseconds(m.took[2]),
		multiple(m.all), multiple(m.likely), verdict(m.likely, most), memory)
}

func multiple(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ratio)
}

func milliseconds(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// verdict says how a ratio stands to what is allowed; it is empty where nothing is said of it.
func verdict(ratio, most float64) string {
	switch {
	case most == 0:
		return ""
	case ratio > most:
		return fmt.Sprintf("over %.2f", most)
	}

	return fmt.Sprintf("ok ≤ %.2f", most)
}
