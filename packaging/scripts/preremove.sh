#!/bin/sh
# A removal is refused while another service runs the binary: it would not start again. deb: remove|upgrade|...; rpm: 0|1.
set -e
case "$1" in
  remove | 0) ;;
  *) exit 0 ;;
esac
# /bin is /usr/bin, and systemd looks there for a command without a folder.
line='^[[:space:]]*Exec[A-Za-z]*[[:space:]]*=' end="([[:space:]\"']|\$)"
path='(.*[^A-Za-z0-9_./-]|[-@:+!]*)(/usr)?/bin/otelcol-train' alone="[[:space:]]*[-@:+!]*[\"']?otelcol-train"
others=
for units in /etc/systemd/system /run/systemd/system /usr/local/lib/systemd/system /usr/lib/systemd/system; do
  for file in "$units"/*.service "$units"/*.service.d/*.conf; do
    case "$file" in
      */otelcol-train.service | */otelcol-train.service.d/*) continue ;;
    esac
    # what ends with a backslash goes on in the next line
    if [ -f "$file" ] && sed -e ':a' -e '/\\$/N; s/\\\n/ /; ta' "$file" | grep -Eq "$line($path|$alone)$end"; then
      others="$others $file"
    fi
  done
done
if [ -n "$others" ]; then
  echo "otelcol-train is not removed: another service runs it. Delete these, systemctl daemon-reload, restart the service, and try again:" >&2
  for file in $others; do echo "  $file" >&2; done
  exit 1
fi
[ -d /run/systemd/system ] && systemctl --no-reload disable --now otelcol-train.service || true
