package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// resources adds the resources: a text, a picture, one that clients subscribe to, and one with a
// parameter in its address.
func resources(s *server.MCPServer) {
	addText(s, "test://static-text", "static-text",
		"This is the content of the static text resource.")
	addText(s, "test://watched-resource", "watched-resource", "This resource can be watched.")
	s.AddResource(mcp.NewResource("test://static-binary", "static-binary",
		mcp.WithResourceDescription("A picture."), mcp.WithMIMEType("image/png")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.BlobResourceContents{URI: "test://static-binary",
				MIMEType: "image/png", Blob: pixelPNG}}, nil
		})
	s.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template",
		mcp.WithTemplateDescription("Data that has an id."), mcp.WithTemplateMIMEType(
			"application/json")), readTemplate)
}

// addText offers a resource that is a text.
func addText(s *server.MCPServer, uri, name, text string) {
	s.AddResource(mcp.NewResource(uri, name, mcp.WithResourceDescription("A text."),
		mcp.WithMIMEType("text/plain")),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "text/plain",
				Text: text}}, nil
		})
}

// readTemplate reads a resource whose address is test://template/ID/data. Its contents are JSON
// with that ID.
func readTemplate(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
	text, err := json.Marshal(struct {
		ID   string `json:"id"`
		Test bool   `json:"templateTest"`
		Data string `json:"data"`
	}{id, true, fmt.Sprintf("Data for ID: %s", id)})
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI,
		MIMEType: "application/json", Text: string(text)}}, nil
}
