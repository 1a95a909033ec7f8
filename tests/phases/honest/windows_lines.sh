# Ends its lines as Windows does.
. "$CORPUS/common.sh"
work
for file in docs/plan.md docs/design.md; do
    sed 's/$/\r/' "$file" >"$file.new"
    mv "$file.new" "$file"
done
announce docs/plan.md | sed 's/$/\r/'
stay
