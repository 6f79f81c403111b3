#!/bin/sh
# After removing. The data in /var/lib/orrery and its user stay, also after a purge: only an administrator deletes them.
set -e
root=${DPKG_ROOT:-}
if [ "${1:-}" = purge ] && [ "$(readlink "$root/var/lib/orrery/orrery.toml" || true)" = /etc/orrery/orrery.toml ]; then
	rm -f "$root/var/lib/orrery/orrery.toml"
fi
if [ -z "$root" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
