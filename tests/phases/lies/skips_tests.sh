# Has every test skipped.
# found: no_tests_run
. "$CORPUS/common.sh"
plan
design
mkdir -p src
echo 'echo 1' >src/sum.sh
for test in tests/test_*.sh; do echo 'exit 77' >"$test"; done
announce docs/plan.md
