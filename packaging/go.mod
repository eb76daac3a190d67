module github.com/pathologize/otelcol-train/packaging

go 1.26.0

require (
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/mod v0.42.0
)

require go.uber.org/goleak v1.3.0
