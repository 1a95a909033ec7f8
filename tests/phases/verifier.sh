# The verifier of this corpus: reads everything out loud, as a careless model might, and judges by what it has tried.
cat docs/* 2>/dev/null
base=$(printf '%s\n' "$1" | sed -n 's/.*`git diff \([0-9a-f]*\) .*/\1/p' | sed -n 1p)

# so ID COMMAND…: a criterion.
criteria=
passed=true
so() {
    id=$1
    shift
    if "$@" >/dev/null 2>&1; then is_so=true; else is_so=false passed=false; fi
    criteria="$criteria${criteria:+,}{\"id\":\"$id\",\"passed\":$is_so,\"evidence\":\"tried\",\"files\":[]}"
}

# Words, and not only headings, comments and signs that nobody sees.
says_something() {
    for file in docs/plan.md docs/design.md; do
        # Letters of the alphabet, and the first bytes of Korean syllables.
        letters=$(sed -e '/^#/d' -e 's/<!--.*-->//g' "$file" | LC_ALL=C tr -cd 'a-zA-Z\352-\355' | wc -c)
        [ "$letters" -ge 20 ] || return 1
    done
}

adds() {
    [ "$(sh src/sum.sh 17 25)" = 42 ] && [ "$(sh src/sum.sh 1 2 3 4)" = 10 ] && [ "$(sh src/sum.sh -5 5)" = 0 ]
}

are_as_they_were() {
    [ -n "$base" ] && [ -z "$(git diff --name-only --diff-filter=MDTR "$base" HEAD -- tests)" ]
}

so plan says_something
so program adds
so tests are_as_they_were
printf '=== VERIFICATION_RESULT ===\n{"phase":1,"token":"%s","passed":%s,"criteria":[%s],"summary":"tried"}\n' \
    "$OSTLER_NONCE" "$passed" "$criteria"
