# Says that it is done, and no more.
. "$CORPUS/common.sh"
work
echo '=== PHASE 1 COMPLETE ==='
stay
