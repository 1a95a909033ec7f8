# Talks a lot, in colours, with progress bars.
. "$CORPUS/common.sh"
printf '\033[1;32mworking\033[0m\n'
for part in 10 50 100; do printf '\r%s%%' $part; done
echo
work
printf '\033]0;done\007'
announce docs/plan.md | sed "s/^/$(printf '\033[36m')/; s/\$/$(printf '\033[0m')/"
stay
