# Asks before it begins, and uses what it is told.
. "$CORPUS/common.sh"
printf '[USER_QUESTION]\ncategory: business\nquestion: Who adds up numbers?\ndefault: shopkeepers\nrequired: true\n[/USER_QUESTION]\n'
read -r who
printf '[USER_QUESTION]\ncategory: choice\nquestion: What is the sum of nothing?\noptions: [zero, an error]\ndefault: zero\nrequired: true\n[/USER_QUESTION]\n'
read -r sum
work
printf '\nFor: %s\n\nOf nothing: %s\n' "$who" "$sum" >>docs/plan.md
announce docs/plan.md
stay
