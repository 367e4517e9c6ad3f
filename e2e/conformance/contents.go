package main

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The smallest picture and the smallest sound, in base64.
const (
	pixelPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	clickWAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

// contents adds tools that answer with each kind of content, a tool that always fails, and tools
// with unusual schemas. The tool that fails answers with isError and not with an error of the
// protocol, because a model must be able to read what went wrong.
func contents(s *server.MCPServer) {
	add(s, "test_simple_text", "Answers with a text.", always(mcp.NewTextContent(
		"This is a simple text response for testing.")))
	add(s, "test_image_content", "Answers with a picture.",
		always(mcp.NewImageContent(pixelPNG, "image/png")))
	add(s, "test_audio_content", "Answers with a sound.",
		always(mcp.NewAudioContent(clickWAV, "audio/wav")))
	add(s, "test_embedded_resource", "Answers with a resource.",
		always(mcp.NewEmbeddedResource(mcp.TextResourceContents{
			URI: "test://embedded-resource", MIMEType: "text/plain",
			Text: "This is an embedded resource content.",
		})))
	add(s, "test_multiple_content_types", "Answers with a text, a picture and a resource.", always(
		mcp.NewTextContent("Multiple content types test:"),
		mcp.NewImageContent(pixelPNG, "image/png"),
		mcp.NewEmbeddedResource(mcp.TextResourceContents{
			URI: "test://mixed-content-resource", MIMEType: "application/json",
			Text: `{"test":"data","value":123}`,
		}),
	))
	add(s, "test_error_handling", "Always fails.",
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("This tool intentionally returns an error for testing"),
				nil
		})
	addWith(s, "json_schema_2020_12_tool", "Has a schema that uses much of JSON Schema 2020-12.",
		fullSchema, always(mcp.NewTextContent("fine")))
	addWith(s, "test_header_parameter", "Has a parameter that is repeated in a header.",
		headerSchema, always(mcp.NewTextContent("fine")))
}

// fullSchema has the words that a server may lose: they must be listed as they stand here.
const fullSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// headerSchema mirrors an argument into the header Mcp-Param-Region.
// It came with revision 2026-07-28: a proxy can then route a call without reading its body.
const headerSchema = `{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}`
