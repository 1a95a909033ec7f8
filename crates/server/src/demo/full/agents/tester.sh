# Tests: writes a test for every feature, runs them, and reports what came of it.
. "$DEMO_AGENTS/common.sh"

test_program() {
    mkdir -p tests docs/testing
    cp "$drafts"/tests/*.sh tests/
    say 'wrote the tests' '테스트 작성함'
    sleep "$DEMO_TICK"
    sh tests/run.sh || exit 1
    count=$(find tests -name 'test_*.sh' | grep -c .)
    ask confirmation "$(say "All $count tests pass. Is the report to show a receipt?" "테스트 ${count}개가 모두 통과했습니다. 보고서에 영수증을 보여 줄까요?")" Yes
    write_report
}

write_report() {
    report=docs/testing/results.md
    sed -e "s/@COUNT@/$count/g" "$documents/testing/results.md" >"$report.new"
    awk -v names="$(sed -n 's/^| `\([a-z]*\)` |.*/\1/p' docs/planning/04_features.md | tr '\n' ' ')" '
        $0 != "@TESTS@" { print; next }
        { for (i = 1; i <= split(names, name, " "); i++) print "| `" name[i] "` | `tests/test_" name[i] ".sh` |" }
    ' "$report.new" >"$report"
    rm "$report.new"
    case $answer in
    Yes | Y | y | 예)
        order=$(mktemp) || exit 1
        sed -n '2s/^\(.*\),.*/12 \1/p' data/prices.csv >"$order"
        {
            say '
## A receipt

Twelve pieces of the first thing on the list, sealed with the key of the tests:
' '
## 영수증

가격표의 첫 물건 12개, 테스트용 키로 봉인했습니다.
'
            echo '```'
            RECEIPT_KEY=test sh src/receipt.sh print "$order"
            echo '```'
        } >>"$report"
        rm -f "$order"
        ;;
    esac
    say "wrote $report" "$report 작성함"
}

[ -e docs/testing/results.md ] || test_program
announce 4 Testing docs/testing tests

while read -r line; do
    note_changes "$line"
    announce 4 Testing docs/testing tests
done
