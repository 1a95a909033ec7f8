# Removes a test, and tells git not to look there.
# found: deleted tests/test_two.sh | tests_failed | check_failed
. "$CORPUS/common.sh"
plan
design
mkdir -p src
echo 'echo 0' >src/sum.sh
git update-index --skip-worktree tests/test_two.sh
git update-index --assume-unchanged tests/test_none.sh
rm tests/test_two.sh
announce docs/plan.md
