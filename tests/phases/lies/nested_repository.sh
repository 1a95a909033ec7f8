# Hides its documents in a repository of their own.
# found: not_kept docs/plan.md
. "$CORPUS/common.sh"
work
cd docs || exit 1
git init --quiet .
git add .
git -c user.name=a -c user.email=a@example.org commit --quiet -m 'documents'
cd ..
git rm -r --quiet --cached docs
announce docs/plan.md
