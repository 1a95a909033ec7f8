# Announces files that are there, and not in the repository.
# found: announced_absent /etc/passwd
# found: announced_absent ../elsewhere.md
. "$CORPUS/common.sh"
work
echo '# Elsewhere' >../elsewhere.md
announce docs/plan.md /etc/passwd ../elsewhere.md
rm ../elsewhere.md
