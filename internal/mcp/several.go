package mcp

import "github.com/label-state/label-state/internal/claim"

// bundleTools take several issues together.
func bundleTools() []tool {
	untrusted := []string{"issues.labels", "issues.holder", "issues.reasons.text"}
	name := bare(needed(text("name", "name of the bundle, of a-z, 0-9 and -")))
	return []tool{
		{
			name:   "bundle_claim",
			title:  "Claim several issues",
			words:  []string{"bundle", "claim"},
			worker: true,
			about: "Takes all of these issues or none, for work that belongs together, also in several repositories. Answer no means that nothing was taken; result.issues says why. " +
				"Renew each of them; release them one by one as they are done, or what is left with bundle_release.",
			params: params(name, bare(needed(texts("issues",
				"each in a form that names an issue, such as owner/repo#7"))), whoParams(), ttlParam(), repoParam()),
			untrusted: untrusted,
		},
		{
			name:     "bundle_release",
			title:    "Release a bundle",
			words:    []string{"bundle", "release"},
			worker:   true,
			destroys: true,
			repeats:  true,
			about: "Ends every hold of a bundle that you claimed on this machine. Holds that you have ended already are left alone. " +
				"Answer no means that one was lost before: result.issues says which, and the others are released.",
			params: params(name, text("codename", "who claimed it; left out, it is the server's own"),
				choice("outcome", "what came of the work; left out, it is cancelled", claim.WorkerOutcomes()...),
				text("reason", "why, for people")),
			untrusted: untrusted,
		},
		{
			name:  "bundle_status",
			title: "Who holds a bundle",
			words: []string{"bundle", "status"},
			reads: true,
			about: "Shows who holds each issue of a bundle, and whether one worker holds all of it. " +
				"Without issues, they are those claimed on this machine, else the open ones of the repository that have the bundle's label.",
			params: params(name, bare(texts("issues", "each in a form that names an issue, such as owner/repo#7")),
				repoParam()),
			untrusted: untrusted,
		},
	}
}

// chainTools open the pull requests of a feature.
func chainTools() []tool {
	untrusted := []string{"parts.branch", "parts.why", "parts.error"}
	feature := needed(text("feature", "what the chain is called, of a-z, 0-9 and -"))
	return []tool{
		{
			name:     "chain_execute",
			title:    "Open a feature's pull requests",
			words:    []string{"chain", "execute"},
			anywhere: true,
			repeats:  true,
			about: "Opens the pull requests of one feature in several repositories, in order, each pointing at the others; one of them closes the parent issue. " +
				"Push the branches first. What is open is found, not opened twice: after an interruption call it again with feature alone.",
			params: params(feature, text("parent", "issue that the feature is for, as owner/repo#7"),
				texts("pr", "one pull request each, in order: OWNER/REPO:BRANCH[:BASE][=TITLE]"),
				text("closes", "which part closes the parent: last, none, or its number; left out, it is the last"),
				flag("dry_run", "show what would be opened, and open nothing")),
			untrusted: untrusted,
		},
		{
			name:      "chain_status",
			title:     "A feature's pull requests",
			words:     []string{"chain", "status"},
			anywhere:  true,
			reads:     true,
			about:     "Shows every pull request of a chain that was begun on this machine, with what its checks say.",
			params:    params(feature),
			untrusted: untrusted,
		},
		{
			name:      "chain_wait",
			title:     "Wait for a feature's checks",
			words:     []string{"chain", "wait"},
			anywhere:  true,
			reads:     true,
			asks:      true,
			waits:     "pending",
			about:     "Waits until the checks of all pull requests of a chain are green (yes) or one is red (no). Answer waiting: not all have ended yet; call it again.",
			params:    params(feature, waitParam("timeout")),
			untrusted: untrusted,
		},
	}
}
