# Has written everything where git does not look, and commits nothing.
# found: missing docs/plan.md
# found: not_kept build/docs/plan.md
. "$CORPUS/common.sh"
mkdir -p build/docs
(
    cd build || exit 1
    work
)
announce build/docs/plan.md build/src/sum.sh
