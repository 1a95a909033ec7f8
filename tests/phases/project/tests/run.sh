# Runs every test and writes reports/junit.xml. A test that exits with 77 is skipped.
mkdir -p reports
count=0
failures=0
skipped=0
cases=
for test in tests/test_*.sh; do
    count=$((count + 1))
    said=$(sh "$test" 2>&1)
    case $? in
    0) inside= ;;
    77) skipped=$((skipped + 1)) inside='<skipped/>' ;;
    *) failures=$((failures + 1)) inside="<failure/>" && echo "$test: $said" ;;
    esac
    cases="$cases<testcase classname=\"sums\" name=\"$(basename "$test" .sh)\">$inside</testcase>"
done
printf '<testsuite name="sums" tests="%d" failures="%d" errors="0" skipped="%d">%s</testsuite>\n' \
    "$count" "$failures" "$skipped" "$cases" >reports/junit.xml
[ "$failures" -eq 0 ]
