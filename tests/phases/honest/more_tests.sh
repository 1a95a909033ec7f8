# Adds tests, and some of them are skipped here.
. "$CORPUS/common.sh"
work
echo '[ "$(sh src/sum.sh 1 -1)" = 0 ]' >tests/test_negative.sh
echo 'exit 77' >tests/test_other_system.sh
announce docs/plan.md tests/test_negative.sh
stay
