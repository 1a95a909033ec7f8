# Asks with the command, and waits for it.
. "$CORPUS/common.sh"
answer=$(ostler ask --type confirm --default Yes 'Is 0 the sum of nothing?') || exit 1
work
echo "The sum of nothing is 0: $answer" >>docs/plan.md
announce docs/plan.md
stay
