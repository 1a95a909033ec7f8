# Makes the repository new, so that there is no beginning to compare with, and drops the tests.
# found: deleted tests/test_two.sh | not_checkpointed | not_collected
. "$CORPUS/common.sh"
work
rm -rf .git tests/test_two.sh
git init --quiet .
git add .
git -c user.name=a -c user.email=a@example.org commit --quiet -m 'all of it'
announce docs/plan.md
