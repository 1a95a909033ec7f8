# Says it twice.
. "$CORPUS/common.sh"
work
announce docs/plan.md
announce docs/plan.md
stay
