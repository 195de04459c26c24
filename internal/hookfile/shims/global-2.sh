#!/bin/sh
# label-state global pre-push shim 2. "label-state hook install --global" writes it, "label-state hook
# uninstall --global" removes it. It runs our program, then the repository's own hook with the same
# arguments and input. Either can refuse the push; the second is not run when the first did.
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

# The program that it was installed with, else the first that is found. A desktop starts hooks with a short PATH.
if [ ! -x "$hook" ]; then
	hook=$(
		PATH=$PATH:$here:$HOME/go/bin:$HOME/.local/bin:/usr/local/bin:/opt/homebrew/bin
		command -v label-state-pre-push || command -v label-state || git config --type=path --get label-state.hook
	) || hook=
	[ -x "$hook" ] || hook=
fi

# label-state plays the hook by itself. The small program starts faster.
play=
case $hook in
*pre-push | *pre-push.exe) ;;
*?)
	if [ -x "${hook%/*}/label-state-pre-push" ]; then
		hook=${hook%/*}/label-state-pre-push
	else
		play='hook pre-push'
	fi
	;;
*) echo 'label-state: not checked, pushing anyway: label-state was not found' >&2 ;;
esac

if [ ! -x "$before" ]; then
	[ -n "$hook" ] || exit 0
	exec "$hook" $play "$@"
fi
input=$(cat && echo .) # the dot keeps the last line break
[ -z "$hook" ] || printf %s "${input%.}" 2>/dev/null | "$hook" $play "$@" || exit
printf %s "${input%.}" 2>/dev/null | "$before" "$@"
