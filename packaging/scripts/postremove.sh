#!/bin/sh
# A removal keeps configuration, state and user; a purge removes them. Results are never touched. deb: remove|purge|...; rpm: 0|1.
set -e
[ -d /run/systemd/system ] && systemctl daemon-reload || true
[ "$1" = purge ] || exit 0
rm -rf /var/lib/otelcol-train /etc/otelcol-train
getent passwd otelcol-train >/dev/null && userdel otelcol-train || true
getent group otelcol-train >/dev/null && groupdel otelcol-train || true
