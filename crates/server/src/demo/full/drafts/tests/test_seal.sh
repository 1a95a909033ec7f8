# A receipt of the shop is known by its seal; one that was changed, or sealed with another key, is not.
. tests/expect.sh
buys '2 bread'
paper=$(mktemp)
trap 'rm -f "$order" "$paper"' EXIT
receipt print "$order" >"$paper"
expect ours "$(receipt check "$paper")"
expect 'not ours' "$(RECEIPT_KEY=other receipt check "$paper")"
sed 's/bread/crumb/' "$paper" >"$order"
expect 'not ours' "$(receipt check "$order")"
expect 'receipt: RECEIPT_KEY is not set' "$(RECEIPT_KEY='' receipt check "$paper" 2>&1)"
