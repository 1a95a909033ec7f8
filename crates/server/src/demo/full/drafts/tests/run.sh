# Runs every test of this directory, says how each of them went, and writes reports/junit.xml. A test is a script that
# exits with 0; what it prints says what is wrong.
cd "$(dirname "$0")/.." || exit 2
reports=${REPORTS:-reports}
mkdir -p "$reports" || exit 2
export RECEIPT_KEY=test LOOK=text

escape() {
    sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/"/\&quot;/g'
}

printf 'name,cents\napple,50\ngreen tea,320\nbread,275\n' >"$reports/prices.csv"
export PRICES="$reports/prices.csv"
count=0
failures=0
cases=
for test in tests/test_*.sh; do
    [ -e "$test" ] || continue
    name=$(basename "$test" .sh)
    count=$((count + 1))
    if said=$(sh "$test" 2>&1); then
        echo "ok $name"
        cases="$cases<testcase classname=\"receipt\" name=\"$name\"/>"
    else
        failures=$((failures + 1))
        echo "not ok $name: $said"
        cases="$cases<testcase classname=\"receipt\" name=\"$name\"><failure>$(printf '%s' "$said" | escape)</failure></testcase>"
    fi
done
printf '<?xml version="1.0"?>\n<testsuite name="receipt" tests="%d" failures="%d" errors="0">%s</testsuite>\n' \
    "$count" "$failures" "$cases" >"$reports/junit.xml"
echo "$count tests, $failures failed"
[ "$count" -gt 0 ] && [ "$failures" -eq 0 ]
