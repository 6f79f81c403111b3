#!/bin/sh
# After installing: configure (deb), or the number of installed versions (rpm). DPKG_ROOT is the folder of another system.
set -e
root=${DPKG_ROOT:-}
case "${1:-}" in
configure | [0-9]*) ;;
*) exit 0 ;;
esac

if ! grep -q '^orrery:' "$root/etc/passwd" 2>/dev/null; then
	if command -v systemd-sysusers >/dev/null 2>&1; then
		systemd-sysusers ${root:+--root="$root"} orrery.conf
	else
		useradd ${root:+--root "$root"} --system --user-group --home-dir /var/lib/orrery --no-create-home --shell /usr/sbin/nologin orrery
	fi
fi

# The service makes the folder its own when it starts.
if [ ! -d "$root/var/lib/orrery" ]; then
	mkdir -p "$root/var/lib/orrery"
	chmod 0700 "$root/var/lib/orrery"
	[ -n "$root" ] || chown orrery:orrery /var/lib/orrery
fi
# Settings that an administrator has put there stay.
if [ ! -e "$root/var/lib/orrery/orrery.toml" ] && [ ! -L "$root/var/lib/orrery/orrery.toml" ]; then
	ln -s /etc/orrery/orrery.toml "$root/var/lib/orrery/orrery.toml"
fi

if [ -z "$root" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart orrery.service
fi
