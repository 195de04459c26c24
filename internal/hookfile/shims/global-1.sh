#!/bin/sh
# label-state global pre-push shim 1. "label-state hook install --global" writes it, "label-state hook
# uninstall --global" removes it. It runs our program, then the repository's own hook with the same
# arguments and input. Either can refuse the push; the second is not run when the first did.
hook=''
before=$(git rev-parse --git-common-dir)/hooks/pre-push

# Where the repository has a shim of its own as well, what that one keeps comes next.
mark=
if [ -x "$before" ]; then
	{ read -r _ && read -r mark; } <"$before"
	case $mark in
	'# label-state pre-push shim '*) before=$before.label-state-chained ;;
	esac
fi

# The program that it was installed with, else the first that is found. A desktop starts hooks with a short PATH.
[ -x "$hook" ] || hook=$(
	PATH=$PATH:$HOME/go/bin:$HOME/.local/bin:/usr/local/bin:/opt/homebrew/bin
	command -v label-state-pre-push || command -v label-state || git config --type=path --get label-state.hook
) || hook=
small=${hook%/*}/label-state-pre-push # starts faster, and answers the same
[ ! -x "$small" ] || hook=$small
if [ ! -x "$hook" ]; then
	echo 'label-state: not checked, pushing anyway: label-state was not found' >&2
	hook=
fi

if [ ! -x "$before" ]; then
	[ -n "$hook" ] || exit 0
	exec "$hook" hook pre-push "$@"
fi
input=$(cat && echo .) # the dot keeps the last line break
[ -z "$hook" ] || printf %s "${input%.}" 2>/dev/null | "$hook" hook pre-push "$@" || exit
printf %s "${input%.}" 2>/dev/null | "$before" "$@"
