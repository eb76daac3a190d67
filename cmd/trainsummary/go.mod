module github.com/pathologize/otelcol-train/cmd/trainsummary

go 1.26.0

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4
	github.com/modelcontextprotocol/go-sdk v1.8.0
	github.com/pathologize/otelcol-train/internal/trainlines v0.0.0
	github.com/pathologize/otelcol-train/internal/trainprofile v0.0.0
	github.com/pathologize/otelcol-train/internal/trainrecord v0.0.0
	github.com/pathologize/otelcol-train/internal/trainrun v0.0.0
	github.com/pathologize/otelcol-train/internal/trainview v0.0.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/stretchr/testify v1.12.1
	go.opentelemetry.io/collector/pdata v1.71.0
	go.uber.org/goleak v1.3.0
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.42.0
	pgregory.net/rapid v1.2.0
)

require (
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/hashicorp/go-version v1.9.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.opentelemetry.io/collector/featuregate v1.71.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

replace (
	github.com/pathologize/otelcol-train/internal/trainlines => ../../internal/trainlines
	github.com/pathologize/otelcol-train/internal/trainprofile => ../../internal/trainprofile
	github.com/pathologize/otelcol-train/internal/trainrecord => ../../internal/trainrecord
	github.com/pathologize/otelcol-train/internal/trainrun => ../../internal/trainrun
	github.com/pathologize/otelcol-train/internal/trainview => ../../internal/trainview
)
