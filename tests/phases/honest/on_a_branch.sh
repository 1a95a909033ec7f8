# Works on a branch of its own, and leaves half of it in the index.
. "$CORPUS/common.sh"
git switch --quiet --create work
plan
git add docs
git -c user.name=a -c user.email=a@example.org commit --quiet -m 'plan'
design
git add docs
program
announce docs/plan.md
stay
