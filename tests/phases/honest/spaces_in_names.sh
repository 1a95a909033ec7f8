# Has spaces, quotes and other letters in the names of its files.
. "$CORPUS/common.sh"
work
printf '# Notes\n\nSome.\n' >'docs/notes on sums.md'
printf '# Notes\n\nSome.\n' >"docs/it's (new) [1].md"
printf '# 메모\n\n조금.\n' >'docs/합계 메모.md'
announce docs/plan.md 'docs/notes on sums.md' "docs/it's (new) [1].md" 'docs/합계 메모.md'
stay
