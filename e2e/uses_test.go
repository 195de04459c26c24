package e2e

import made "github.com/label-state/label-state/internal/workflow"

// namedAction is how examples name the Action: what init writes where nobody knows a commit.
const namedAction = made.Action + "@" + made.Ref
