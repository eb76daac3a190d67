// Command otelcol-train-compat tells an operator, before anything is changed, whether otelcol-train can take the place of the Collector of a
// host: what the host's configuration uses and the binary lacks or spells otherwise, the scope version to pin so that a backend keeps its
// series, and, with compare, whether two binaries make the same series of the same exposition.
package main
