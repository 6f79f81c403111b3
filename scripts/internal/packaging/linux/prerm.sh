#!/bin/sh
# Before removing: remove (deb), or 0 installed versions (rpm). An upgrade restarts the service when it is done.
set -e
case "${1:-}" in
remove | 0) ;;
*) exit 0 ;;
esac
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
	systemctl disable --now orrery.service
fi
