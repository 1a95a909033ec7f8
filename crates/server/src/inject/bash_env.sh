# Ostler: brings values to every later `bash -c`. Bash reads this file by BASH_ENV.
#
# The user's own BASH_ENV comes first, and a variable that is set is left alone. Every name here begins with `ostler_`
# and is gone at the end.
if [ -n "${OSTLER_USER_BASH_ENV:-}" ]; then
  # Bash expands what BASH_ENV holds, and so it is done here.
  eval "ostler_file=\"${OSTLER_USER_BASH_ENV}\""
  if [ -r "${ostler_file:-}" ]; then
    . "${ostler_file}"
  fi
  unset ostler_file
fi
# Only a regular file: bash would wait for ever for the other end of a named pipe that somebody put there.
if [ -f "${OSTLER_VALUES:-}" ] && [ -r "${OSTLER_VALUES}" ]; then
  while IFS= read -r -d '' ostler_pair; do
    ostler_name="${ostler_pair%%=*}"
    [ -n "${!ostler_name+x}" ] || export "${ostler_name}=${ostler_pair#*=}"
  done < "${OSTLER_VALUES}"
  unset ostler_pair ostler_name
fi
