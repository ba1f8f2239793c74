#!/bin/sh
# in-pod.sh SANDBOX ROOT MOUNTS UID GID COMMAND...: runs a command in the root of an image as a container runtime does: in the network
# of the process SANDBOX, the root read-only, no new privileges, as that user (as the user who runs the test, where that is not
# root). The file MOUNTS has a line `ro|rw FOLDER-OR-FILE PATH` for each volume.
set -eu
if [ "${IN_POD:-}" = "" ]; then
  export IN_POD="$(id -u)"
  if [ "$IN_POD" = 0 ]; then
    exec nsenter --target "$1" --net -- unshare -m "$0" "$@"
  fi
  exec nsenter --target "$1" --user --net --preserve-credentials -- unshare -m "$0" "$@"
fi
root=$2 mounts=$3 uid=$4 gid=$5
shift 5
mkdir -p "$root/proc" "$root/dev"
mount --bind "$root" "$root"
while read -r _ from to; do
  if [ -d "$from" ]; then mkdir -p "$root$to"; else mkdir -p "$(dirname "$root$to")" && touch "$root$to"; fi
done <"$mounts"
mount -o remount,bind,ro "$root"
while read -r mode from to; do
  mount --bind "$from" "$root$to"
  if [ "$mode" = ro ]; then mount -o remount,bind,ro "$root$to"; fi
done <"$mounts"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
as=
if [ "$IN_POD" = 0 ]; then as="--setgid $gid --setuid $uid"; fi
unset IN_POD
exec setpriv --no-new-privs /usr/bin/env -u IMAGE_PATH -u IMAGE_WORKDIR PATH="$IMAGE_PATH" \
  /usr/bin/unshare --root="$root" --wd="$IMAGE_WORKDIR" $as "$@"
