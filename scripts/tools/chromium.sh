#!/usr/bin/env bash
# Prints the path of a Chromium without a window: ORRERY_CHROMIUM, or one on the PATH. As root on Debian it installs the
# package if there is none. Exit code 3: there is none.
set -euo pipefail

found() {
	local name
	if [ -n "${ORRERY_CHROMIUM:-}" ]; then
		echo "$ORRERY_CHROMIUM"
		return
	fi
	for name in chromium-headless-shell chrome-headless-shell chromium chromium-browser google-chrome; do
		command -v "$name" && return
	done
	return 1
}

found && exit
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium-headless-shell; } >&2 || true
	found && exit
fi
echo "chromium.sh: Chromium is missing: install it (Debian: apt-get install chromium-headless-shell) or set ORRERY_CHROMIUM" >&2
exit 3
