#!/bin/sh
# Before the files are laid: their group must exist. deb: install|upgrade; rpm: 1|2.
set -e
getent group otelcol-train >/dev/null || groupadd --system otelcol-train
getent passwd otelcol-train >/dev/null ||
  useradd --system --gid otelcol-train --no-create-home --home-dir /var/lib/otelcol-train --shell /usr/sbin/nologin otelcol-train
