# Does its work, says so, and stays.
. "$CORPUS/common.sh"
work
announce docs/plan.md docs/design.md src/sum.sh
stay
