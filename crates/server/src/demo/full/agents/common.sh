# What the scripted agents have in common. Each works in the project's directory, takes its texts from the drafts, and
# asks as every agent can: with blocks that it prints, and with the command `ostler need`.
drafts=$DEMO_AGENTS/../drafts
case $DEMO_LANGUAGE in
ko) documents=$drafts/ko ;;
*) documents=$drafts/en ;;
esac

# say ENGLISH KOREAN: one of them.
say() {
    case $DEMO_LANGUAGE in
    ko) printf '%s\n' "$2" ;;
    *) printf '%s\n' "$1" ;;
    esac
}

# raw NAME: the text of that name in the line of JSON on the input, as it stands there.
raw() {
    sed -n -E 's/.*"'"$1"'":"(([^"\\]|\\.)*)".*/\1/p'
}

# clean: one line, in which nothing is left of signs that mean something to a shell or a table.
clean() {
    sed -e 's/\\[nrt]/ /g' | tr -d '\\|`$"'"'" | sed -e 's/^ *//' -e 's/ *$//'
}

# field NAME: the text of that name, clean.
field() {
    raw "$1" | clean
}

# ask CATEGORY QUESTION DEFAULT [OPTIONS]: the answer, in $answer.
ask() {
    cat <<END
[USER_QUESTION]
category: $1
question: $2
END
    [ -z "${4:-}" ] || printf 'options: [%s]\n' "$4"
    cat <<END
default: $3
required: true
[/USER_QUESTION]
END
    read -r line || exit 1
    answer=$(printf '%s\n' "$line" | field answer)
    [ -n "$answer" ] || answer=$3
}

# draft FILE [PLACE]: writes a document, with the answers in their places.
draft() {
    place=docs/${2:-$1}
    mkdir -p "$(dirname "$place")"
    sed -e "s#@SHOP@#$(plain "$shop")#g" -e "s#@FROM@#$(plain "$from")#g" -e "s#@LOOK@#$(plain "$look")#g" \
        "$documents/$1" >"$place"
    say "wrote $place" "$place 작성함"
    sleep "$DEMO_TICK"
}

# plain TEXT: the same for the right side of a substitution.
plain() {
    printf '%s' "$1" | sed -e 's/[\\&#]/\\&/g'
}

# setting NAME FILE: what a table of settings says.
setting() {
    sed -n "s/^| \`$1\` | \(.*\) | .*/\1/p" "$2"
}

# announce N NAME DIRECTORY…: says that a phase is done, with what stands there.
announce() {
    number=$1
    name=$2
    shift 2
    printf '=== PHASE %s COMPLETE ===\nPhase: %s\nDocuments created:\n' "$number" "$name"
    find "$@" -type f | sort | sed 's/^/- /'
    echo
}

# note_changes LINE: what a person wants changed is written down where the next one finds it. Before it stands where it
# comes from, and behind it what to do then.
note_changes() {
    [ -e CHANGES.md ] || say '# Asked for in review' '# 검토에서 요청된 것' >CHANGES.md
    words=$(printf '%s\n' "$1" | raw words | awk '{ gsub(/\\n/, "\n"); print }')
    printf '%s\n' "$words" | sed -e 1d -e '$d' | clean | sed -e 's/^/- /' >>CHANGES.md
    say 'wrote CHANGES.md' 'CHANGES.md 작성함'
}
