package mcpserver

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pathologize/otelcol-train/internal/trainview"
)

const (
	uriPrefix = "trainrun:///"
	uriSuffix = "/summary"
	uriSchema = uriPrefix + "schema"
	jsonType  = "application/json"
)

func (l *Library) resources(s *mcp.Server) {
	s.AddResource(&mcp.Resource{URI: uriSchema, Name: "schema", Description: "JSON Schema of a run's document, with the meaning of each field", MIMEType: jsonType},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(uriSchema, trainview.DocumentSchema())
		})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: uriPrefix + "{run}" + uriSuffix, Name: "summary", Description: "The document of a run", MIMEType: jsonType},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			uri := req.Params.URI
			name, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(uri, uriPrefix), uriSuffix))
			if err != nil {
				return nil, mcp.ResourceNotFoundError(uri)
			}
			sum, err := l.summary(name)
			if err != nil {
				return nil, mcp.ResourceNotFoundError(uri)
			}
			return contents(uri, sum.Document)
		})
}

func contents(uri string, v any) (*mcp.ReadResourceResult, error) {
	b, err := trainview.Encode(v)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(b)}}}, nil
}
