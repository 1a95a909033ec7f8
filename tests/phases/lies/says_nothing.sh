# Has done its work, and never says so.
# found: not_announced
. "$CORPUS/common.sh"
work
echo 'All of it is done.'
