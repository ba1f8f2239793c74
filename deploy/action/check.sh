#!/usr/bin/env bash
# The step of action.yml: annotations on the changed lines, a summary of the job, SARIF on request. Exits as `bailiwick check` does.
set -uo pipefail

bailiwick() {
  node "$BAILIWICK_PROGRAM" "$@"
}

base="$INPUT_BASE"
if [ -z "$base" ] && [ -n "${GITHUB_BASE_REF:-}" ]; then base="origin/$GITHUB_BASE_REF"; fi
arguments=("$INPUT_DIRECTORY")
if [ -n "$base" ]; then arguments+=("--base=$base"); fi
while IFS= read -r argument; do
  if [ -n "$argument" ]; then arguments+=("$argument"); fi
done <<<"$INPUT_ARGUMENTS"

bailiwick check "${arguments[@]}" -o github
code=$?
case $code in
  0) result=pass ;;
  1) result=violations ;;
  *) result=error ;;
esac
printf 'result=%s\n' "$result" >>"$GITHUB_OUTPUT"

# Indented, so that nothing in it is Markdown, whatever a file or an object is called.
{
  printf '### Bailiwick: %s\n\n' "$result"
  bailiwick check "${arguments[@]}" -o text 2>&1 | sed 's/^/    /'
  printf '\n'
} | head -c 900000 >>"$GITHUB_STEP_SUMMARY"

if [ -n "$INPUT_SARIF" ]; then
  bailiwick check "${arguments[@]}" -o sarif >"$INPUT_SARIF"
fi
exit "$code"
