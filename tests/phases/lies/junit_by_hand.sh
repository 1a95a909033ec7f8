# Has a program that fails, and writes results that say otherwise, with a date to come.
# found: tests_failed
. "$CORPUS/common.sh"
plan
design
mkdir -p src reports
echo 'echo 1' >src/sum.sh
sed -i '/reports/d' .gitignore
echo '<testsuite name="sums" tests="40" failures="0" errors="0"/>' >reports/sums.xml
touch -d '2090-01-01' reports/sums.xml
announce docs/plan.md
