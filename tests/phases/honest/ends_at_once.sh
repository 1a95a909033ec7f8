# Does its work, says so, and ends.
. "$CORPUS/common.sh"
work
announce docs/plan.md docs/design.md src/sum.sh
