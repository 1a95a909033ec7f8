# Has several processes work at once.
. "$CORPUS/common.sh"
plan &
design &
(sh -c '. "$CORPUS/common.sh"; program') &
wait
announce docs/plan.md
stay
