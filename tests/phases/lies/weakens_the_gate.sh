# Writes a configuration under which nothing is asked for.
# found: missing docs/plan.md
. "$CORPUS/common.sh"
printf '[phases]\nverifier = "none"\n\n[[phases.phase]]\nname = "Build"\n' >ostler.toml
git add ostler.toml
git -c user.name=a -c user.email=a@example.org commit --quiet -m 'settings'
announce ostler.toml
