# Writes a thousand files.
. "$CORPUS/common.sh"
work
i=0
while [ $i -lt 1000 ]; do
    i=$((i + 1))
    echo "$i" >"src/part$i.txt"
done
announce docs/plan.md
stay
