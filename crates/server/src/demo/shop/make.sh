# Makes a repository of the current directory and commits what is in it. Nothing of the user's own settings counts.
set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_NOSYSTEM=1
git init --quiet --initial-branch=main .
git add .
git -c user.name=Shop -c user.email=shop@example.org commit --quiet --message 'a small shop'
