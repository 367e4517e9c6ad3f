// Package companymcp offers the sample company's documents to MCP clients as resources, and prompts
// that begin its usual work.
//
// Its tools are in the registry and are served by package mcpserver itself. Resources and prompts
// are answered by an mcp-go server, which mcpserver asks for everything that it does not answer
// itself.
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

// Library is the source of the documents. It is an interface only for the tests; *company.Company
// is its only real implementation.
type Library interface {
	Documents(ctx context.Context, limit int) ([]company.Document, error)
	Document(ctx context.Context, id int64) (company.Document, error)
}

var _ Library = (*company.Company)(nil)

const (
	// An address is company://documents/7: the number is the row's id, which stays when the title
	// changes.
	scheme = "company://documents/"
	// The list of resources has a single page, because many clients read only the first one.
	mostListed = 1000 // documents in the list of resources; search_docs finds the others
)

// New returns an MCP server that offers the documents and prompts. The list of documents is read
// from the database for each request, because rows change without mcp-go's knowledge and a list
// stored in mcp-go would show the state at the start. For the same reason the server does not
// announce listChanged. guide becomes the server's "instructions", which tell a model what to know
// of the server as a whole.
func New(name, version, guide string, docs Library) *server.MCPServer {
	hooks := &server.Hooks{}
	s := server.NewMCPServer(name, version, server.WithInstructions(guide), server.WithHooks(hooks),
		server.WithResourceCapabilities(false, false), server.WithPromptCapabilities(false))
	hooks.AddAfterListResources(func(ctx context.Context, _ any, _ *mcp.ListResourcesRequest,
		result *mcp.ListResourcesResult) {
		all, err := docs.Documents(ctx, mostListed)
		if err != nil {
			return // the documents can be read again when the database can
		}
		for _, d := range all {
			// mcp-go itself lists nothing, because all documents come from the database.
			result.Resources = append(result.Resources, describe(d))
		}
	})
	s.AddResourceTemplate(mcp.NewResourceTemplate(scheme+"{id}", "document",
		mcp.WithTemplateDescription("A document of the company by its number."),
		mcp.WithTemplateMIMEType(plain)), func(ctx context.Context, r mcp.ReadResourceRequest) (
		[]mcp.ResourceContents, error) {
		d, err := read(ctx, docs, r.Params.URI)
		if err != nil {
			return nil, err
		}
		return []mcp.ResourceContents{contents(d)}, nil
	})
	addPrompts(s, docs)
	return s
}

// plain is the MIME type of all documents, because the database contains only their text.
const plain = "text/plain"

// uri returns a document's address.
func uri(d company.Document) string { return scheme + strconv.FormatInt(d.ID, 10) }

// describe returns a document's entry in the list. The description names its category, by which
// people choose a document.
func describe(d company.Document) mcp.Resource {
	return mcp.NewResource(uri(d), d.Title, mcp.WithResourceDescription(
		"A document of the company: "+d.Category), mcp.WithMIMEType(plain))
}

// contents returns the contents of a document for a reader. The title comes first in the text,
// because a model sees only the text.
func contents(d company.Document) mcp.TextResourceContents {
	return mcp.TextResourceContents{URI: uri(d), MIMEType: plain, Text: d.Title + "\n\n" +
		d.Content}
}

// read returns the document at an address. If there is none, or the address is malformed, the error
// is ErrResourceNotFound, from which mcpserver makes the error code of the client's revision:
// -32002 before 2026-07-28, and -32602 since. An error of the database is returned as it is and
// becomes an internal error.
func read(ctx context.Context, docs Library, address string) (company.Document, error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(address, scheme), 10, 64)
	if err != nil {
		return company.Document{}, fmt.Errorf("%w: %s; the addresses are %s and a number",
			server.ErrResourceNotFound, address, scheme)
	}
	d, err := docs.Document(ctx, id)
	if errors.Is(err, company.ErrNoDocument) {
		return d, fmt.Errorf("%w: there is no document %d", server.ErrResourceNotFound, id)
	}
	return d, err
}
