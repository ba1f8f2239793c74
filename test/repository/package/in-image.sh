#!/bin/sh
# in-image.sh ROOT FOLDERS COMMAND...: runs a command in the root of an image, which is read-only beside /tmp, as user 1000 (as the
# user who runs the test, where that is not root). FOLDERS (A:B:...) are there under their own paths: the command may write to
# the first one, and read the others. The network is this machine's.
set -eu
if [ "${IN_IMAGE:-}" = "" ]; then
  namespaces=-m
  [ "$(id -u)" = 0 ] || namespaces=-mr
  IN_IMAGE="$(id -u)" exec unshare "$namespaces" "$0" "$@"
fi
root=$1 folders=$(printf '%s' "$2" | tr : ' ') own=${2%%:*}
shift 2
for folder in /proc /dev $folders; do mkdir -p "$root$folder"; done
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
# the folders may be there, below others that only their owner may enter
mount -t tmpfs -o mode=755 tmpfs "$root/dev/shm"
for folder in $folders; do
  mkdir -p "$root$folder"
  mount --bind "$folder" "$root$folder"
done
as=
if [ "$IN_IMAGE" = 0 ]; then
  for folder in $folders; do
    if [ "$folder" = "$own" ]; then chown -R 1000:1000 "$folder"; else chmod -R a+rX "$folder"; fi
  done
  as="--setgid 1000 --setuid 1000"
fi
unset IN_IMAGE
PATH=$IMAGE_PATH exec /usr/bin/unshare --root="$root" --wd=/app $as "$@"
