module github.com/pathologize/otelcol-train/exporter/dvcresultexporter

go 1.26.0

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace (
	github.com/pathologize/otelcol-train/internal/componentcheck => ../../internal/componentcheck
	github.com/pathologize/otelcol-train/internal/trainrecord => ../../internal/trainrecord
	github.com/pathologize/otelcol-train/internal/trainrun => ../../internal/trainrun
)
