# Designs: asks how a receipt is to look, and writes five documents. At first it forgets one of the features, says that
# it is done, and is sent back.
. "$DEMO_AGENTS/common.sh"
plan=docs/planning/07_backend.md
shop=$(setting shop "$plan")
from=$(setting discount_from "$plan")
look=$(setting look docs/design/02_data_model.md 2>/dev/null)
api=docs/design/04_api.md

if [ -z "$look" ]; then
    ask choice "$(say 'How is a receipt to look?' '영수증은 어떤 모양인가요?')" text 'text, csv'
    case $answer in
    csv) look=csv ;;
    *) look=text ;;
    esac
    for name in 01_screens 02_data_model 03_task_flow 04_api 05_architecture; do
        draft "design/$name.md"
    done
    # The command that comes last is the one that is forgotten.
    sed -e '/^## Returns/,$d' -e '/^## 환불/,$d' "$api" >"$api.new"
    mv "$api.new" "$api"
elif ! grep -q '^### `refund' "$api"; then
    # Started again, with what is wrong as its prompt.
    draft design/04_api.md
fi
announce 2 Design docs/design

while read -r line; do
    if grep -q '^### `refund' "$api"; then
        note_changes "$line"
    else
        say 'It is true: refund is missing.' '맞습니다. refund가 빠졌습니다.'
        draft design/04_api.md
    fi
    announce 2 Design docs/design
done
