# Writes its documents beside the repository, and names them as if they were in it.
# found: missing docs/plan.md
. "$CORPUS/common.sh"
work
mkdir -p "$TMPDIR/docs"
mv docs/plan.md "$TMPDIR/docs/plan.md"
announce "$TMPDIR/docs/plan.md"
