# check.awk: judges a fleet by the request log of its GitHub and the journal of its workers.

function wrong(text) {
	print "WRONG: " text
	failures++
}

# rank is an issue's place in the queue: priority, then age.
function rank(n) { return (n % 4) * issues + n }

FILENAME != last { file++; last = FILENAME }

# The request log, one JSON object a line, in the order of the answers: the first comment on an issue is its first claim, also
# when its answer was lost (status 0).
file == 1 {
	requests++
	if ($0 !~ /"status":(20[01]|0),/ || !match($0, /\/issues\/[0-9]+/)) next
	n = substr($0, RSTART + 8, RLENGTH - 8)
	if ($0 ~ /"method":"POST","path":"[^"]*\/comments"/ && !(n in claimed)) {
		claimed[n] = 1
		order[++begun] = n
	}
	if ($0 ~ /"method":"PATCH","path":"[^"]*\/issues\/[0-9]+","status":200/) closed[n]++
	next
}

# The journal: start, crash, done or refused; the issue; who.
$1 == "start" {
	if ($2 in working) wrong($3 " and " working[$2] " work on #" $2)
	working[$2] = $3
}
$1 == "crash" { delete working[$2]; crashes++ }
$1 == "done" { delete working[$2]; done[$2]++ }
$1 == "refused" { wrong($3 " was refused the end of #" $2) }

END {
	for (n = 1; n <= issues; n++) {
		if (done[n] != 1) wrong("#" n " was done " done[n] + 0 " times")
		if (closed[n] != 1) wrong("#" n " was closed " closed[n] + 0 " times")
	}
	# As many as there are agents may be on their way at the same moment.
	for (i = 1 + agents; i <= begun; i++)
		if (rank(order[i]) < rank(order[i - agents])) wrong("#" order[i] " was begun after #" order[i - agents])
	printf "%d agents, %d issues, %d crashes: %.1f requests for each completed issue\n", agents, issues, crashes, requests / issues
	if (failures) exit 1
	print "every issue was done once, none by two at a time, in order"
}
