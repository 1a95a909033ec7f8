# Plans: asks two questions, and writes nine documents with the answers in them.
. "$DEMO_AGENTS/common.sh"
look=

if [ ! -e docs/planning/09_roadmap.md ]; then
    say 'Nine documents are to be written. Two things only you can know.' '문서 9개를 씁니다. 두 가지는 당신만 알 수 있습니다.'
    ask business "$(say 'What is the name of the shop, as it stands on its receipts?' '영수증에 찍힐 가게 이름은 무엇인가요?')" \
        "$(say 'Corner Shop' '골목 가게')"
    shop=$answer
    ask clarification "$(say 'From how many pieces of the same thing is it a tenth cheaper?' '같은 물건을 몇 개부터 10% 깎아 주나요?')" 10
    from=$(printf '%s' "$answer" | tr -cd 0-9 | sed 's/^0*//')
    # What is cheaper from the first piece on is not cheaper, and nobody buys ten thousand.
    case $from in
    '' | 1 | ?????*) from=10 ;;
    esac
    for name in 01_idea 02_market 03_users 04_features 05_flows 06_screens 07_backend 08_tech 09_roadmap; do
        draft "planning/$name.md"
    done
fi
announce 1 Planning docs/planning

while read -r line; do
    note_changes "$line"
    announce 1 Planning docs/planning CHANGES.md
done
