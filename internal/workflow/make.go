package workflow

import "strings"

// Action is the repository of the Action.
const Action = "label-state/label-state"

// Ref is what a workflow names of the Action where nobody knows better: the branch main until there
// is a release, which makes the tag v1.
const Ref = "main"

// Options say how a workflow differs from the example. The zero value is the example.
type Options struct {
	Ref       string   // of the Action: a tag, a branch or a whole commit; empty is Ref
	Note      string   // a comment after it; may be empty
	Refs      bool     // leases are git references, which ending a hold moves
	Variables []string // of a lease service: environment variables, from secrets of the same names
}

// Text is the workflow for one repository with everything on. README, examples and init show this
// one.
func Text(o Options) string {
	text := example
	if o.Ref != "" {
		text = strings.Replace(text, "@"+Ref+"\n", "@"+o.Ref+"\n", 1)
	}

	if o.Note != "" {
		uses, rest, _ := strings.Cut(text, "\n        with:\n")
		text = uses + " # " + o.Note + "\n        with:\n" + rest
	}

	if o.Refs {
		const write = "      contents: write # claim.lease: refs, which ends a hold by moving its reference\n"
		text = strings.Replace(text, "      contents: read\n", write, 1)
	}

	if len(o.Variables) > 0 {
		text += "        env:\n"
	}

	for _, name := range o.Variables {
		text += "          " + name + ": ${{ secrets." + name + " }}\n"
	}

	return text
}

const example = `# Labels follow pull requests and issues, people steer with comments, and every hour a sweep finds what the events missed.
name: label-state

on:
  schedule:
    - cron: "17 * * * *" # not on the hour, when GitHub delays and drops runs
  pull_request:
    types: [opened, reopened, closed, edited, ready_for_review, converted_to_draft, synchronize, unlabeled]
  merge_group: # so that the guard reports in a merge queue, too
  issues:
    types: [closed, reopened, labeled, unlabeled, transferred]
  issue_comment: # /claim, /release and the other commands
    types: [created]
  workflow_dispatch:
    inputs:
      mode:
        description: sweep looks at every issue, setup makes the labels
        type: choice
        options: [sweep, setup]

permissions: {}

concurrency: # of runs that wait in one group GitHub keeps only the last, so each comment and label has a group of its own
  group: label-state-${{ github.event.issue.number || github.event.pull_request.number || github.event.merge_group.head_sha || 'sweep' }}-${{ github.event.comment.id || github.event.label.name }}
  cancel-in-progress: false

jobs:
  label-state:
    if: github.event_name != 'issue_comment' || startsWith(github.event.comment.body, '/')
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read
      issues: write
      pull-requests: write
    steps:
      - uses: label-state/label-state@main
        with:
          mode: ${{ inputs.mode || 'auto' }}
`
