#!/usr/bin/env bash
# The pre-push hook as one writes it in an afternoon: git log and grep for each branch, and for each issue that they find
# a program that asks about it; here "true", which costs a process and no request.
set -uo pipefail

remote=${1:?}
ask=$(type -P true)
zero=0000000000000000000000000000000000000000
main=$(git symbolic-ref --quiet --short "refs/remotes/$remote/HEAD") || main=$remote/main

while read -r _ local_oid _ remote_oid; do
	[ "$local_oid" != "$zero" ] || continue
	range=$remote_oid..$local_oid
	if [ "$remote_oid" = "$zero" ]; then
		range=$local_oid
		base=$(git merge-base "$local_oid" "$main" 2>/dev/null) && range=$base..$local_oid
	fi
	issues=$(git log --format=%B "$range" 2>/dev/null |
		grep -oiE '\b(close[sd]?|fix(es|ed)?|resolve[sd]?):?[[:space:]]+#[0-9]+' |
		grep -oE '[0-9]+$' | sort -un)
	for issue in $issues; do
		"$ask" "$issue" </dev/null || exit 1
	done
done
