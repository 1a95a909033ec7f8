# Says that it is done, and has done nothing.
# found: missing docs/plan.md
. "$CORPUS/common.sh"
announce docs/plan.md docs/design.md src/sum.sh
