#!/usr/bin/env bash
# Installs nginx and caddy, with which the page for production is tested, as root on Debian. They are not started. Exit code
# 3: one of them is missing.
set -euo pipefail

missing() { ! command -v nginx >/dev/null || ! command -v caddy >/dev/null; }

missing || exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
	{ apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends nginx caddy; } >&2 || true
fi
missing || exit 0
echo "proxies.sh: nginx or caddy is missing: install it (Debian: apt-get install nginx caddy)" >&2
exit 3
