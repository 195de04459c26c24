#!/bin/sh
# label-state global pre-push shim 1. "label-state hook install --global" writes it, "label-state hook
# uninstall --global" removes it. It runs the compiled hook, then the repository's own hook with the
# same arguments and input. Either can refuse the push; the second is not run when the first did.
hook=''
here=${0%/*}
before=$(git rev-parse --git-common-dir)/hooks/pre-push

# Where the repository has a shim of its own as well, what that one keeps comes next.
mark=
if [ -x "$before" ]; then
	{ read -r _ && read -r mark; } <"$before"
	case $mark in
	'# label-state pre-push shim '*) before=$before.label-state-chained ;;
	esac
fi

[ -x "$hook" ] || hook=$(command -v label-state-pre-push) || hook=$here/label-state-pre-push
[ -x "$hook" ] || hook=$(git config --type=path --get label-state.hook) || hook=
if [ ! -x "$hook" ]; then
	echo 'label-state: not checked, pushing anyway: label-state-pre-push was not found' >&2
	hook=
fi

if [ ! -x "$before" ]; then
	[ -n "$hook" ] || exit 0
	exec "$hook" "$@"
fi
input=$(cat && echo .) # the dot keeps the last line break
[ -z "$hook" ] || printf %s "${input%.}" 2>/dev/null | "$hook" "$@" || exit
printf %s "${input%.}" 2>/dev/null | "$before" "$@"
