# Leaves nothing that its work could be compared with.
# found: not_checkpointed | not_collected
. "$CORPUS/common.sh"
work
rm -rf .git
announce docs/plan.md
