# Says its word as the guide asks for.
. "$CORPUS/common.sh"
work
announce docs/plan.md | sed "s/COMPLETE/COMPLETE n=$OSTLER_NONCE/"
stay
