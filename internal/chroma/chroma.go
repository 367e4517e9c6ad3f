// Package chroma is a client of Chroma servers, for version 2 of their REST API.
//
// It uses no library, since it needs only five calls. The existing Go library uses version 1, which
// today's servers answer with 410.
package chroma

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolnorm/chat"
)

// Client makes requests to one collection. It may be used by several goroutines at once, and must
// not be copied.
type Client struct {
	Host       string // a name, or a whole URL
	Port       int
	Collection string
	Header     string       // a header to send, for example "X-Chroma-Token: …"; empty: none
	HTTP       *http.Client // nil: a client that waits ten seconds

	mu    sync.Mutex
	known *collection
}

// collection is the server's description of a collection. ID is the id that the server has chosen;
// requests need it, while the settings contain only the collection's name.
type collection struct {
	ID            string
	Dimension     int // 0 while the collection is empty
	Configuration struct {
		HNSW struct{ Space string }
	} `json:"configuration_json"`
}

// Error is an error that the server answered. Kind is Chroma's own name for it, such as
// NotFoundError.
type Error struct {
	Status        int    `json:"-"`
	Kind, Message string `json:"-"`
}

// Error implements error: it returns the server's own sentence and the status.
func (e *Error) Error() string { return fmt.Sprintf("Chroma: %s (%d)", e.Message, e.Status) }

// collections is the path of the collections in Chroma's default tenant and database.
const collections = "/tenants/default_tenant/databases/default_database/collections"

// do sends body to path and decodes the answer; into is a pointer to the result. Without a body the
// request is a GET, otherwise a POST. It returns an *Error if the server answers with a status of
// 300 or more, and other errors if it cannot be reached or its answer cannot be read.
func (c *Client) do(ctx context.Context, path string, body, into any) error {
	base := c.Host
	if !strings.Contains(base, "://") {
		base = "http://" + net.JoinHostPort(base, strconv.Itoa(c.Port))
	}
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		if text, err = chat.JSON(body); err != nil {
			return err
		}
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(base, "/")+"/api/v2"+
		path, bytes.NewReader(text))
	if err != nil {
		return errors.New("the Chroma server: the host cannot be read")
	}
	req.Header.Set("Content-Type", "application/json")
	if name, value, ok := strings.Cut(c.Header, ":"); ok {
		req.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: 10 * time.Second}
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("the Chroma server cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("the Chroma server: %w", err)
	}
	if resp.StatusCode >= 300 {
		var said struct{ Error, Message string }
		if json.Unmarshal(reply, &said) != nil || said.Message == "" {
			said.Message = cmp.Or(strings.TrimSpace(string(reply[:min(300, len(reply))])),
				http.StatusText(resp.StatusCode))
		}
		return &Error{resp.StatusCode, said.Error, said.Message}
	}
	if err := json.Unmarshal(reply, into); err != nil {
		return fmt.Errorf("the Chroma server: an answer that cannot be read: %w", err)
	}
	return nil
}

// find returns the server's description of the collection, whose id all other requests need. It
// asks the server only once. It fails if the server does not answer, or if the collection does not
// exist: creating it would leave an empty collection behind after a typo.
func (c *Client) find(ctx context.Context) (*collection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		found := new(collection)
		if err := c.do(ctx, collections+"/"+url.PathEscape(c.Collection), nil, found); err != nil {
			return nil, err
		}
		c.known = found
	}
	return c.known, nil
}

// call sends body to an endpoint of the collection, such as "query", and decodes the answer into
// the pointer into. Its errors are those of the method do. If the collection's id no longer exists,
// it looks the id up again and tries once more, since the collection may have been recreated.
func (c *Client) call(ctx context.Context, what string, body, into any) error {
	for again := false; ; again = true {
		found, err := c.find(ctx)
		if err != nil {
			return err
		}
		err = c.do(ctx, collections+"/"+found.ID+"/"+what, body, into)
		var said *Error
		if again || !errors.As(err, &said) || said.Status != http.StatusNotFound {
			return err
		}
		c.mu.Lock()
		c.known = nil
		c.mu.Unlock()
	}
}

// Query returns, for each vector, the texts of the n nearest records. All vectors go in one
// request. A record that was stored without its text, for which Chroma returns null, is left out.
// It fails if the collection does not exist, or if the server does not answer or answers with an
// error.
func (c *Client) Query(ctx context.Context, vectors [][]float32, n int) ([][]string, error) {
	var found struct{ Documents [][]*string }
	body := map[string]any{"query_embeddings": vectors, "n_results": n,
		"include": []string{"documents", "distances"}}
	if err := c.call(ctx, "query", body, &found); err != nil {
		return nil, err
	}
	all := make([][]string, len(vectors))
	for i := range all {
		all[i] = []string{}
		if i < len(found.Documents) {
			for _, text := range found.Documents[i] {
				if text != nil {
					all[i] = append(all[i], *text)
				}
			}
		}
	}
	return all, nil
}

// Make creates the collection, for cosine distances, unless it exists. By default Chroma would
// compare by squared distances, whose order differs from that of cosines if vectors have different
// lengths. Its errors are those of the method do.
func (c *Client) Make(ctx context.Context) error {
	body := map[string]any{"name": c.Collection, "get_or_create": true,
		"configuration": map[string]any{"hnsw": map[string]any{"space": "cosine"}}}
	return c.do(ctx, collections, body, new(collection))
}

// Records returns the ids and texts of the records of a source, or of all records if source is
// empty. The text of a record that was stored without one is nil. It reads a thousand records at a
// time, so that no answer comes near the size limit of do. If a request fails, it returns what was
// read before along with the error.
func (c *Client) Records(ctx context.Context, source string) (
	ids []string, texts []*string, err error) {
	for {
		body := map[string]any{"limit": 1000, "offset": len(ids), "include": []string{"documents"}}
		if source != "" {
			body["where"] = map[string]any{"source": map[string]any{"$eq": source}}
		}
		var page struct {
			IDs       []string
			Documents []*string
		}
		if err := c.call(ctx, "get", body, &page); err != nil || len(page.IDs) == 0 {
			return ids, texts, err
		}
		ids, texts = append(ids, page.IDs...), append(texts, page.Documents...)
	}
}

// Upsert adds records with the given ids, texts and vectors, and replaces those that have the same
// ids; an add would leave the old ones. Each record is marked as one of the source, so that Records
// can select it. The errors are those of the method call.
func (c *Client) Upsert(ctx context.Context, source string, ids, texts []string,
	vectors [][]float32) error {
	metadata := make([]map[string]any, len(ids))
	for i := range metadata {
		metadata[i] = map[string]any{"source": source}
	}
	return c.call(ctx, "upsert", map[string]any{"ids": ids, "documents": texts,
		"embeddings": vectors, "metadatas": metadata}, new(json.RawMessage))
}

// Delete removes the records with the given ids. Without ids it does nothing, since it is uncertain
// what a server would remove then. Its errors are those of the method call.
func (c *Client) Delete(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return c.call(ctx, "delete", map[string]any{"ids": ids}, new(json.RawMessage))
}
