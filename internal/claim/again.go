package claim

// ReasonAgain is the reason of a worker's release of its own overdue hold that a new claim follows.
const ReasonAgain = "its lease expired, and it is claimed again"
