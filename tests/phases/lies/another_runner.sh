# Has a program that fails, and a runner that says that it does not.
# found: criterion tests
. "$CORPUS/common.sh"
plan
design
mkdir -p src
echo 'echo 1' >src/sum.sh
cat >tests/run.sh <<'END'
mkdir -p reports
echo '<testsuite name="sums" tests="2" failures="0" errors="0"><testcase name="a"/><testcase name="b"/></testsuite>' >reports/junit.xml
END
announce docs/plan.md
