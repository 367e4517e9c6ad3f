// Package companymcp offers the sample company's documents to MCP clients as resources, and prompts that begin its usual work.
package companymcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/tools/company"
)

// Library is where the documents are.
type Library interface {
	Documents(ctx context.Context, limit int) ([]company.Document, error)
	Document(ctx context.Context, id int64) (company.Document, error)
}

var _ Library = (*company.Company)(nil)

const (
	scheme     = "company://documents/"
	mostListed = 1000 // documents in the list of resources; search_docs finds the others
)

// New makes a server of the documents and prompts. The list is read anew for each client that asks.
func New(name, version, guide string, docs Library) *server.MCPServer {
	hooks := &server.Hooks{}
	s := server.NewMCPServer(name, version, server.WithInstructions(guide), server.WithHooks(hooks),
		server.WithResourceCapabilities(false, false), server.WithPromptCapabilities(false))
	hooks.AddAfterListResources(func(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		all, err := docs.Documents(ctx, mostListed)
		if err != nil {
			return // the documents can be read again when the database can
		}
		for _, d := range all {
			result.Resources = append(result.Resources, describe(d))
		}
	})
	s.AddResourceTemplate(mcp.NewResourceTemplate(scheme+"{id}", "document", mcp.WithTemplateDescription("A document of the company by its number."),
		mcp.WithTemplateMIMEType(plain)), func(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		d, err := read(ctx, docs, r.Params.URI)
		if err != nil {
			return nil, err
		}
		return []mcp.ResourceContents{contents(d)}, nil
	})
	addPrompts(s, docs)
	return s
}

const plain = "text/plain"

// uri is a document's address.
func uri(d company.Document) string { return scheme + strconv.FormatInt(d.ID, 10) }

// describe is a document in the list.
func describe(d company.Document) mcp.Resource {
	return mcp.NewResource(uri(d), d.Title, mcp.WithResourceDescription("A document of the company: "+d.Category), mcp.WithMIMEType(plain))
}

// contents is a document as it is read.
func contents(d company.Document) mcp.TextResourceContents {
	return mcp.TextResourceContents{URI: uri(d), MIMEType: plain, Text: d.Title + "\n\n" + d.Content}
}

// read gives the document of an address.
func read(ctx context.Context, docs Library, address string) (company.Document, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(address, scheme), 10, 64)
	if err != nil {
		return company.Document{}, fmt.Errorf("%w: %s; the addresses are %s and a number", server.ErrResourceNotFound, address, scheme)
	}
	d, err := docs.Document(ctx, id)
	if errors.Is(err, company.ErrNoDocument) {
		return d, fmt.Errorf("%w: there is no document %d", server.ErrResourceNotFound, id)
	}
	return d, err
}
