# Commits its work, step by step.
. "$CORPUS/common.sh"
commit() {
    git add .
    git -c user.name=a -c user.email=a@example.org commit --quiet -m "$1"
}
plan && commit plan
design && commit design
program && commit program
announce docs/plan.md
stay
