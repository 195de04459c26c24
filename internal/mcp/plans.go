package mcp

// planTools are those of the approval gate and of stage pipelines.
func planTools() []tool {
	return []tool{
		{
			name:   "plan",
			title:  "Post a plan",
			words:  []string{"plan", "--body-file=-"},
			worker: true,
			about: "Posts what you mean to do with an issue that you hold, for a person to approve. Do nothing of it before plan_wait answers yes. " +
				"While the plan waits the hold needs no renewal. Answer no means that a plan of yours waits already, or that the hold is lost.",
			params: params(issueParam(), []param{{
				name:   "body",
				about:  "the plan, in Markdown",
				kind:   isText,
				needed: true,
				fed:    true,
				most:   mostStory,
			}}, whoParams()),
			untrusted: []string{"by", "reason"},
		},
		{
			name:   "plan_wait",
			title:  "Wait for the answer to your plan",
			words:  []string{"plan"},
			worker: true,
			reads:  true,
			asks:   true,
			waits:  "waiting",
			about: "Waits for the answer to the plan that you posted, and posts nothing. Answer yes: it was approved, do it, and renew from now on. " +
				"Answer no: it was rejected, or the hold is over; stop all work on the issue. Answer waiting: not decided yet; call it again, and do nothing meanwhile.",
			params:    params(issueParam(), waitParam("wait"), whoParams()),
			untrusted: []string{"by", "reason"},
		},
		{
			name:     "advance",
			title:    "Move an issue to its next stage",
			words:    []string{"advance"},
			worker:   true,
			destroys: true,
			repeats:  true,
			about: "In repositories with stages: moves an issue that you hold to the next stage and ends your hold. The last stage closes the issue as completed. " +
				"Use it in place of release when the stage's work is done.",
			params: params(issueParam(), whoParams(), text("to", "stage to go to; left out, it is the next")),
		},
	}
}
