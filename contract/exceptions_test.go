package contract

// restExceptions are where api.github.com.json is silent or behind. That a failure may have the common body is in the judge.
var restExceptions = []exception{
	{" 401", "status is not described", "bad credentials are refused everywhere"},
	{" 403", "status is not described", "any operation may lack a permission or meet a limit"},
	{" 404", "status is not described", "any object may be absent or hidden"},
	{"issues/update-label 422", "status is not described", "what making a label refuses, changing one refuses"},
	{"repos/create-commit-status 422", "status is not described", "what making a label refuses, making a status refuses"},
	{"repos/get-combined-status-for-ref 422", "status is not described", "GitHub's answer to a commit it does not have (No commit found for SHA)"},
	{"checks/list-for-ref 422", "status is not described", "the same"},
	{"issues/list-for-repo 410", "status is not described", "issues switched off; the description has it for every other operation on issues"},
	{" 307", "status is not described", "a write to a renamed repository is redirected so; recorded in 2017 and since"},
	{"repos/get 304", "status is not described", "every GET may be conditional (best practices for using the REST API)"},
	{"repos/get-content 200", "application/vnd.github.raw+json", "the text of the operation promises it for the raw media type"},
	{"/repositories/", "is not described", "where GitHub's 301 of a renamed repository points"},
	{" 4", "unknown field /status", "GitHub sends its status with every failure; basic-error has it, validation-error lacks it"},
	{"rate-limit/get 200", "/resource", "GitHub names the resource in each entry"},
	{"issues/list-events 200", "/*/state_reason", "GitHub sends it with closed; the description has it in the timeline only"},
	{"issues/add-labels request", "value must be an object", "the schema lost the bare list that its own text still offers"},
}

// schemaExceptions are what GitHub serves and @octokit/graphql-schema does not have yet.
var schemaExceptions = []exception{
	{"Issue.blockedBy", "does not exist", blockedBy},
	{"Assignable.assignedActors", "does not exist", assignedActors},
	{"Issue.assignedActors", "does not exist", assignedActors},
	{"PullRequest.assignedActors", "does not exist", assignedActors},
	{"AssigneeConnection", "is no OBJECT", assignedActors},
	{"AssigneeEdge", "is no OBJECT", assignedActors},
}

// documentExceptions are the same, where our documents meet them.
var documentExceptions = []exception{
	{"query", `Cannot query field "blockedBy" on type "Issue"`, blockedBy},
	{"query", `Cannot query field "assignedActors" on type "Issue"`, assignedActors},
	{"mutation", `Cannot query field "blockedBy" on type "Issue"`, blockedBy},
	{"mutation", `Cannot query field "assignedActors" on type "Issue"`, assignedActors},
}

// assignedActors is asked for because assignees has no Apps among them.
const assignedActors = "in GitHub's reference since issues are assigned to Apps"

const blockedBy = "in GitHub's reference since issue dependencies came; the client does without it where a server has none"
