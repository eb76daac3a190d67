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
OTELCOL_OPTIONS=--config=/etc/otelcol-train/config.yaml
set -a
[ -r /etc/default/otelcol-train ] && . /etc/default/otelcol-train
set +a
# shellcheck disable=SC2086 # the options are several words
if ! /usr/bin/otelcol-train validate $OTELCOL_OPTIONS; then
  echo "otelcol-train refuses its configuration and was not restarted: mend it, then systemctl restart otelcol-train" >&2
  exit 0
fi
[ -d /run/systemd/system ] && systemctl try-restart otelcol-train.service || true
