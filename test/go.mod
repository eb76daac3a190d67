module github.com/pathologize/otelcol-train/test

go 1.26.0
