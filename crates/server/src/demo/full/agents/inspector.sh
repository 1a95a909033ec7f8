# Verifies: reads every document, compares them with each other, and runs the program and its tests, in the place that it
# was given. It takes nobody's word, names whatever is wrong, and writes nothing.
say() {
    case $DEMO_LANGUAGE in
    ko) printf '%s' "$2" ;;
    *) printf '%s' "$1" ;;
    esac
}

planning='01_idea 02_market 03_users 04_features 05_flows 06_screens 07_backend 08_tech 09_roadmap'
design='01_screens 02_data_model 03_task_flow 04_api 05_architecture'
features=docs/planning/04_features.md
wrong=
criteria=
passed=true

# The criteria that it is asked about say which phase it is.
case ${1:-$OSTLER_PROMPT} in
*plan_documents*) phase=1 ;;
*design_documents*) phase=2 ;;
*program_documents*) phase=3 ;;
*tests_documents*) phase=4 ;;
*)
    say 'None of the criteria is known.' '아는 기준이 없습니다.'
    exit 1
    ;;
esac

# found WORDS: something is wrong.
found() {
    wrong="$wrong${wrong:+; }$1"
}

escape() {
    tr '\n\t\r' '   ' | tr -d '\000-\037' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g'
}

# judge ID EVIDENCE: ends a criterion. The evidence is for the case that nothing is wrong.
judge() {
    if [ -z "$wrong" ]; then
        is_so=true
        evidence=$2
    else
        is_so=false
        passed=false
        evidence=$wrong
    fi
    criteria="$criteria${criteria:+,}{\"id\":\"$1\",\"passed\":$is_so,\"evidence\":\"$(printf '%s' "$evidence" | escape)\",\"files\":[]}"
    wrong=
}

# read_document FILE: it is a file of the tree, has a title, and below each of its headings there is something to read.
read_document() {
    if [ ! -f "$1" ] || [ -L "$1" ]; then
        found "$(say "$1 is missing" "$1 없음")"
        return
    fi
    why=$(awk '
        /^```/ { fenced = !fenced; words++; next }
        !fenced && /^#+ / {
            if (heading != "" && level > 1 && words == 0 && deeper() == 0) { print heading; exit }
            match($0, /^#+/); level_new = RLENGTH
            if (headings == 0 && level_new != 1) { print $0; exit }
            headings++; heading = $0; level = level_new; words = 0
            next
        }
        NF > 0 { words++; all++ }
        function deeper() { match($0, /^#+/); return RLENGTH > level }
        END {
            if (headings == 0 || all == 0) print "-"
            else if (words == 0) print heading
        }
    ' "$1")
    case $why in
    '') ;;
    -) found "$(say "$1 is empty" "$1 비어 있음")" ;;
    *) found "$(say "$1: nothing stands below \"$why\"" "$1: \"$why\" 아래에 내용이 없음")" ;;
    esac
}

read_documents() {
    directory=$1
    shift
    for name in "$@"; do
        read_document "docs/$directory/$name.md"
    done
}

# Those of the phases before count too: what was approved has to stay.
read_all() {
    read_documents planning $planning
    [ "$phase" -lt 2 ] || read_documents design $design
    [ "$phase" -lt 4 ] || read_documents testing results
    judge "$1" "$(say 'every document is there and has something below each heading' '모든 문서가 있고 제목마다 내용이 있음')"
}

features() {
    sed -n 's/^| `\([a-z]*\)` |.*/\1/p' "$features" 2>/dev/null
}

# named FILE NAME…: each stands in the file, as code.
named() {
    file=$1
    shift
    for name in "$@"; do
        grep -q "\`$name[ \`]" "$file" 2>/dev/null || found "$(say "$file does not name \`$name\`" "$file에 \`$name\`이(가) 없음")"
    done
}

setting() {
    sed -n "s/^| \`$1\` | \(.*\) | .*/\1/p" "$2" 2>/dev/null
}

plan() {
    read_all plan_documents
    [ -n "$(features)" ] || found "$(say "$features has no features" "$features에 기능이 없음")"
    named docs/planning/05_flows.md $(features)
    named docs/planning/09_roadmap.md $(features)
    judge plan_features "$(say 'every feature has a flow and a milestone' '모든 기능에 흐름과 마일스톤이 있음')"
    for name in shop discount_from; do
        [ -n "$(setting $name docs/planning/07_backend.md)" ] ||
            found "$(say "docs/planning/07_backend.md has no value for \`$name\`" "docs/planning/07_backend.md에 \`$name\` 값이 없음")"
    done
    judge plan_answers "$(say 'both answers stand in 07_backend.md' '두 답이 모두 07_backend.md에 있음')"
}

design() {
    read_all design_documents
    named docs/design/04_api.md $(features)
    judge design_api "$(say 'every feature of the plan has its command' '계획의 모든 기능에 명령이 있음')"
    for name in shop discount_from; do
        [ "$(setting $name docs/design/02_data_model.md)" = "$(setting $name docs/planning/07_backend.md)" ] ||
            found "$(say "docs/design/02_data_model.md and docs/planning/07_backend.md differ about \`$name\`" "docs/design/02_data_model.md와 docs/planning/07_backend.md의 \`$name\` 값이 다름")"
    done
    judge design_data "$(say 'the data model has the values of the plan' '데이터 모델의 값이 계획과 같음')"
}

program() {
    read_all program_documents
    order=$(mktemp) || exit 1
    # Counted here once more, with the list of the shop and without the program.
    first=$(sed -n 2p data/prices.csv 2>/dev/null)
    printf '1 %s\n' "${first%,*}" >"$order"
    sum=$(sh src/receipt.sh total "$order" 2>&1)
    [ -n "$first" ] && [ "$sum" = "${first##*,}" ] ||
        found "$(say "src/receipt.sh: one '${first%,*}' costs '$sum'" "src/receipt.sh: '${first%,*}' 1개가 '$sum'")"
    rm -f "$order"
    judge program_runs "$(say "one '${first%,*}' costs $sum, as data/prices.csv says" "'${first%,*}' 1개가 $sum, data/prices.csv와 같음")"
    kept=$(grep -rlE 'RECEIPT_KEY=[^$ ]' src data 2>/dev/null)
    [ -z "$kept" ] || found "$(say "a key stands in $kept" "$kept에 키가 있음")"
    judge program_key "$(say 'no key stands in the program' '프로그램에 키가 없음')"
}

tests() {
    read_all tests_documents
    for name in $(features); do
        [ -f "tests/test_$name.sh" ] || found "$(say "tests/test_$name.sh is missing" "tests/test_$name.sh 없음")"
    done
    [ -n "$(features)" ] || found "$(say "$features has no features" "$features에 기능이 없음")"
    judge tests_cover "$(say 'every feature of the plan has its test' '계획의 모든 기능에 테스트가 있음')"
    # Not with the project's runner: a runner that says yes to everything would do so here, too.
    reports=$(mktemp -d) || exit 1
    printf 'name,cents\napple,50\ngreen tea,320\nbread,275\n' >"$reports/prices.csv"
    export RECEIPT_KEY=test LOOK=text PRICES="$reports/prices.csv"
    # A copy of the project whose program does nothing right: a test that passes there tests nothing.
    mkdir "$reports/broken" && cp -R src tests data "$reports/broken/" || exit 1
    echo 'echo broken' >"$reports/broken/src/receipt.sh"
    count=0
    for test in tests/test_*.sh; do
        count=$((count + 1))
        said=$(sh "$test" 2>&1) || found "$(say "$test fails: $said" "$test 실패: $said")"
        ! (cd "$reports/broken" && sh "$test") >/dev/null 2>&1 ||
            found "$(say "$test passes although the program is broken" "$test: 프로그램이 망가져도 통과함")"
    done
    told=$(sed -n '/`sh tests\/run.sh`/{s/[^0-9]*\([0-9]*\).*/\1/p;q;}' docs/testing/results.md 2>/dev/null)
    [ "$told" = "$count" ] ||
        found "$(say "docs/testing/results.md speaks of '$told' tests, and there are $count" "docs/testing/results.md에는 테스트가 '$told'개인데 실제로는 ${count}개")"
    said=$(REPORTS=$reports sh tests/run.sh 2>&1) || found "$(say "tests/run.sh fails" 'tests/run.sh 실패')"
    case $said in
    *', 0 failed') ;;
    *) found "$(say 'tests/run.sh does not say that nothing failed' 'tests/run.sh가 실패 없음을 말하지 않음')" ;;
    esac
    last=$(printf '%s\n' "$said" | sed -n '$p')
    rm -rf "$reports"
    judge tests_pass "$last"
}

case $phase in
1) plan ;;
2) design ;;
3) program ;;
4) tests ;;
esac

if $passed; then
    summary=$(say 'Everything was looked at, and nothing is wrong.' '모두 살펴보았고 문제가 없습니다.')
else
    summary=$(say 'Something is not as it has to be.' '그래야 할 대로가 아닌 것이 있습니다.')
fi
printf '=== VERIFICATION_RESULT ===\n{"phase":%d,"token":"%s","passed":%s,"criteria":[%s],"summary":"%s"}\n' \
    "$phase" "$OSTLER_NONCE" "$passed" "$criteria" "$summary"
