// Package secretmaskprocessor masks secrets in what leaves the host: by the rules that results are masked by (internal/trainrun/secret), in
// every place of log records, spans and metrics that holds text; and it removes values that a backend need not know, by their names.
package secretmaskprocessor
