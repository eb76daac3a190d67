#!/bin/sh
# Before the files are laid: their group must exist. deb: install|upgrade; rpm: 1|2.
set -e
getent group otelcol-train >/dev/null || groupadd --system otelcol-train
getent passwd otelcol-train >/dev/null ||
  useradd --system --gid otelcol-train --no-create-home --home-dir /var/lib/otelcol-train --shell /usr/sbin/nologin otelcol-train
# No file of the package: an upgrade would take it from the user of a service whose binary was swapped.
[ -d /var/lib/otelcol-train ] || install -d -m 0750 -o otelcol-train -g otelcol-train /var/lib/otelcol-train
