# Has a link in place of a whole folder.
# found: not_kept docs/plan.md
. "$CORPUS/common.sh"
work
mv docs "$TMPDIR/documents"
ln -s "$TMPDIR/documents" docs
announce docs/plan.md
