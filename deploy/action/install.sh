#!/usr/bin/env bash
# The first step of action.yml. At the commit of a release it installs that package, once GitHub attests that the release workflow made it
# from this tag. At any other commit it installs the packages of the sources, and says so. Its output is the program that check.sh runs.
set -euo pipefail
cd "$BAILIWICK_ACTION"

version="$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)"
tag="v$version"

# Nothing where GitHub knows no such tag or commit.
commit_of() { gh api "repos/$ACTION_REPOSITORY/commits/$1" --jq .sha 2>/dev/null | grep -xE '[0-9a-f]{40}' || true; }

released=''
if [ -n "$ACTION_REPOSITORY" ]; then released="$(commit_of "$tag")"; fi
if [ -n "$released" ] && [ "$(commit_of "$ACTION_REF")" = "$released" ]; then
  home="$RUNNER_TEMP/bailiwick-$version"
  package="$home/bailiwick-$version.tgz"
  mkdir -p "$home"
  gh release download "$tag" --repo "$ACTION_REPOSITORY" --pattern "${package##*/}" --dir "$home" --clobber
  gh attestation verify "$package" --repo "$ACTION_REPOSITORY" --source-ref "refs/tags/$tag" \
    --signer-workflow "$ACTION_REPOSITORY/.github/workflows/release.yml"
  npm install --prefix "$home" --no-audit --no-fund --loglevel=error "$package" "node@$(sed -n 's/^    "node": "\(.*\)",$/\1/p' package.json)"
  program="$home/node_modules/bailiwick/bailiwick.js"
else
  printf '::notice::Bailiwick runs from its sources, because this commit is not the release %s.\n' "$tag"
  npm ci --no-audit --no-fund --loglevel=error
  program="$BAILIWICK_ACTION/src/surface/cli/bailiwick.js"
fi
printf 'program=%s\n' "$program" >>"$GITHUB_OUTPUT"
