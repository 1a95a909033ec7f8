# Writes in a temporary directory, and moves what is finished.
. "$CORPUS/common.sh"
place=$(mktemp -d)
here=$PWD
cd "$place" || exit 1
mkdir docs
work
cd "$here" || exit 1
mkdir -p src
mv "$place"/docs/* docs/
mv "$place"/src/* src/
rm -r "$place"
announce docs/plan.md
stay
