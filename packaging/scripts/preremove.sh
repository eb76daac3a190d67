#!/bin/sh
# A removal is refused while another service runs the binary: it would not start again. deb: remove|upgrade|...; rpm: 0|1.
set -e
case "$1" in
  remove | 0) ;;
  *) exit 0 ;;
esac
others=
for file in /etc/systemd/system/*.service.d/*.conf /run/systemd/system/*.service.d/*.conf /etc/systemd/system/*.service /usr/local/lib/systemd/system/*.service; do
  case "$file" in
    */otelcol-train.service | */otelcol-train.service.d/*) continue ;;
  esac
  if [ -f "$file" ] && grep -Eq '^[[:space:]]*Exec[A-Za-z]*=[^#]*/usr/bin/otelcol-train([[:space:]]|$)' "$file"; then
    others="$others $file"
  fi
done
if [ -n "$others" ]; then
  echo "otelcol-train is not removed: another service runs it. Delete these, systemctl daemon-reload, restart the service, and try again:" >&2
  for file in $others; do echo "  $file" >&2; done
  exit 1
fi
[ -d /run/systemd/system ] && systemctl --no-reload disable --now otelcol-train.service || true
