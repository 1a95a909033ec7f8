# Develops: asks for a key, a file and a permission, meets with something that passes by itself, and writes the program.
. "$DEMO_AGENTS/common.sh"
plan=docs/design/02_data_model.md
shop=$(setting shop "$plan")
from=$(setting discount_from "$plan")
look=$(setting look "$plan")

prices() {
    cat <<END
[DEPENDENCY_REQUEST]
type: file
name: prices.csv
description: $(say 'The price list: a line per thing, its name and its price in cents. Skip it, and the old one is used.' '가격표: 한 줄에 물건 하나, 이름과 센트 단위 가격. 건너뛰면 옛 가격표를 씁니다.')
default: old/prices.csv
required: false
[/DEPENDENCY_REQUEST]
END
    read -r line || exit 1
    path=$(printf '%s\n' "$line" | field path)
    [ -f "$path" ] || path=old/prices.csv
    # The till writes the old list while it is open. That passes, so nobody has to be asked.
    (
        sleep "$DEMO_TICK"
        rm -f "$DEMO_AGENTS/../till-is-open"
    ) &
    if [ -e "$DEMO_AGENTS/../till-is-open" ]; then
        cat <<END
[ERROR]
type: recoverable
message: $(say 'The till is writing the price list; try again in 1 second' '계산대가 가격표를 쓰는 중입니다. 다시 시도: 1초 뒤')
recovery: pause_and_retry
[/ERROR]
END
        while [ -e "$DEMO_AGENTS/../till-is-open" ]; do sleep 0.02; done
        say 'The till is done.' '계산대가 끝났습니다.'
    fi
    mkdir -p data
    cp "$path" data/prices.csv
}

write_program() {
    mkdir -p src
    printf "# What the shop has decided: see docs/design/02_data_model.md.\nshop='%s'\ndiscount_from=%s\nlook=%s\n" \
        "$shop" "$from" "$look" >src/shop.conf
    cp "$drafts/src/receipt.sh" src/receipt.sh
    say 'wrote src/receipt.sh and src/shop.conf' 'src/receipt.sh와 src/shop.conf 작성함'
    sleep "$DEMO_TICK"
}

# A receipt that is sealed with the real key, for its own eyes: nothing of it is kept.
try_key() {
    key=${RECEIPT_KEY:-$(ostler need RECEIPT_KEY --description \
        "$(say 'The key that receipts are sealed with. Any word will do here.' '영수증을 봉인하는 키입니다. 여기서는 아무 단어나 됩니다.')")} || return
    order=$(mktemp) || return
    sed -n '2s/^\(.*\),.*/2 \1/p' data/prices.csv >"$order"
    RECEIPT_KEY=$key sh src/receipt.sh print "$order" | grep -q seal && say 'A receipt can be sealed.' '영수증을 봉인할 수 있습니다.'
    rm -f "$order"
}

remove_old() {
    [ -e old/receipt.sh ] || return 0
    cat <<END
[DEPENDENCY_REQUEST]
type: permission
name: $(say 'remove old/receipt.sh' 'old/receipt.sh 삭제')
description: $(say 'The new program does all that it does.' '새 프로그램이 같은 일을 모두 합니다.')
required: false
[/DEPENDENCY_REQUEST]
END
    read -r line || exit 1
    case $line in
    *'"approved":true'*) rm old/receipt.sh ;;
    *) say 'It stays.' '남겨 둡니다.' ;;
    esac
}

[ -e data/prices.csv ] || prices
[ -e src/receipt.sh ] || {
    write_program
    try_key
    remove_old
}
announce 3 Development src data

while read -r line; do
    note_changes "$line"
    announce 3 Development src data
done
