#!/bin/sh
# A first install starts nothing; an upgrade restarts what runs, unless the new binary refuses the configuration. deb: configure [old version];
# rpm: 1|2.
set -e
case "$1" in
  configure) [ -n "$2" ] && upgrade=yes || upgrade= ;;
  1) upgrade= ;;
  2) upgrade=yes ;;
  *) exit 0 ;;
esac
[ -d /run/systemd/system ] && systemctl daemon-reload || true

if [ -z "$upgrade" ]; then
  echo "otelcol-train is installed and not started: edit /etc/otelcol-train/config.yaml, then systemctl enable --now otelcol-train"
  exit 0
fi
# valid runs validate as the service would: a file of environment has systemd's syntax, where a value goes to the end of its line, not the shell's.
valid() (
  OTELCOL_OPTIONS=--config=/etc/otelcol-train/config.yaml
  if [ -r /etc/default/otelcol-train ]; then
    # shellcheck disable=SC2162 # a backslash is one to systemd too
    while read line || [ -n "$line" ]; do
      name=${line%%=*} value=${line#*=}
      case "$line" in [#\;]*) continue ;; *=*) ;; *) continue ;; esac
      case "$name" in '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;; esac
      case "$value" in \"*\" | \'*\') value=${value#?} value=${value%?} ;; esac
      export "$name=$value"
    done </etc/default/otelcol-train
  fi
  set -f
  # shellcheck disable=SC2086 # the options are several words
  exec /usr/bin/otelcol-train validate $OTELCOL_OPTIONS
)
if ! valid; then
  echo "otelcol-train refuses its configuration and was not restarted: mend it, then systemctl restart otelcol-train" >&2
  exit 0
fi
[ -d /run/systemd/system ] && systemctl try-restart otelcol-train.service || true
