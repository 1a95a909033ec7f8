# Has done its work, and says so where nobody listens.
# found: not_announced
. "$CORPUS/common.sh"
work
announce >&2
