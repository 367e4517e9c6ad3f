#!/bin/sh
# Boots systemd on a copy of this machine's files that nothing outlives: unshare … machine.sh FOLDER SHARED. FOLDER is an empty one
# to mount on, SHARED is found inside as /srv/release. It is the first process of namespaces of its own, for files, processes and
# the network, so that packages and services are really installed and run, and this machine never knows of it.
set -eu
cd "$1"
mount --make-rprivate /
mount -t tmpfs changes .
cd "$1"
mkdir changed work root
mount -t overlay overlay -o lowerdir=/,upperdir=changed,workdir=work root
cd root
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs run run
mount -t tmpfs tmp tmp
mount -t tmpfs -o mode=755 dev dev
for node in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0"; do
	set -- "$1" "$2" $node
	mknod -m 666 "dev/$3" c "$4" "$5"
done
mkdir dev/pts dev/shm dev/mqueue
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mkdir -p srv/release old
mount --bind "$2" srv/release
# Nothing of what this machine would start: only what systemd itself needs, and what a test installs.
printf '[Unit]\nDescription=nothing\nDefaultDependencies=no\n' >etc/systemd/system/nothing.target
ip link set lo up
pivot_root . old
umount -l /old
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	/lib/systemd/systemd --system --unit=nothing.target --log-target=null --show-status=no
