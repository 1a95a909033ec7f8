# Has a long document and a large file of data.
. "$CORPUS/common.sh"
work
i=0
while [ $i -lt 4000 ]; do
    i=$((i + 1))
    echo "Line $i of the annex says what was added up on day $i, by whom, and what came of it in the end."
done >>docs/plan.md
mkdir -p data
head -c 3000000 /dev/zero >data/zeros.bin
announce docs/plan.md data/zeros.bin
stay
