// Package kb holds the knowledge base tools, and fills the knowledge bases that they search.
//
//	kb.go      opens the store and decides whether the tools are offered
//	config.go  the settings
//	import.go  puts files into a knowledge base: what changed, and only that
//	file.go    one file: read, cut, summarized, embedded, stored
//	move.go    moves a document to another knowledge base, with vectors that fit there
//	sample.go  the handbook that comes with the program
//
//	page.go                        a passage as a page, to which citations lead
//	base.go                        which knowledge base a caller means
//	search_documents.go            the tool that finds passages, with package retrieval
//	get_knowledge_base_summary.go  describes a base, and counts its contents
//	normalize_ocr_text.go          long-vowel marks that OCR read as hyphens
//	failure.go                     failures, with the specification's statuses
package kb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/embedding"
	"toolnorm/internal/ocr"
	"toolnorm/internal/sleep"
	"toolnorm/tools"
	"toolnorm/tools/kb/kbstore"
	"toolnorm/tools/kb/retrieval"
)

// KB manages the knowledge bases of a program. It is safe for concurrent use.
type KB struct {
	Store    *kbstore.Store    // nil: there is none, and none was to be created
	Problem  error             // why the store cannot be opened
	Embedder *embedding.Client // for passages; nil: not configured, and passages have no vectors
	config   Config
	local    *retrieval.Local

	mu sync.Mutex
	// the names of the knowledge bases in the registry's tools; empty: the registry has no tools
	offered string
	beside  sleep.Group
}

// Open opens the store of the knowledge bases. It creates a missing file only if create is true,
// since toolrun starts for each call and most users have no knowledge base. If the store cannot be
// opened, it returns the error together with a KB whose tools report that error rather than an
// empty list. It returns a KB without a store and no error if the file is missing and create is
// false, or if the setting Tools is "never".
func Open(ctx context.Context, c Config, where string, embedder *embedding.Client, create bool) (
	*KB, error) {
	questions, passages := c.embedders(embedder)
	k := &KB{Embedder: passages, config: c, local: c.local(questions, passages)}
	if c.Tools == "never" {
		return k, nil
	}
	if !strings.HasPrefix(where, "postgres") && !create {
		if _, err := os.Stat(where); errors.Is(err, os.ErrNotExist) {
			return k, nil
		}
	}
	if k.Store, k.Problem = kbstore.OpenStore(ctx, where); k.Problem != nil {
		return k, k.Problem
	}
	k.local.Store = k.Store
	if c.Warn != nil {
		k.local.Progress = func(b kbstore.Base, done, all int) {
			c.Warn(fmt.Sprintf("knowledge base %q: %d of %d passages are in the index of words",
				b.Name, done, all))
		}
	}
	if c.Warn != nil {
		k.Store.Tell(func(o kbstore.Odd) { c.Warn("knowledge base: " + o.String()) })
	}
	return k, nil
}

// Where returns the location of the store of knowledge bases, next to the store of the tools: the
// same PostgreSQL database, or a file in the same folder. It is never the file of the tools,
// because the sample company in that file has a table called documents as well, and the
// specification fixes that name.
func Where(store string) string {
	if strings.HasPrefix(store, "postgres") {
		return store
	}
	return filepath.Join(filepath.Dir(store), "knowledge.db")
}

// Close ends Watch and closes the store. A nil KB may be closed, since a program without tools has
// none. It returns an error if closing the store fails.
func (k *KB) Close() error {
	if k == nil || k.Store == nil {
		return nil
	}
	k.beside.Close()
	k.local.Close()
	return k.Store.Close()
}

// Wanted reports whether the tools should be offered. The settings decide, "always" or "never". If
// they leave it open, the tools are offered if a setting names a server or there is a knowledge
// base, because every offered tool makes a small model less precise. The bases are counted each
// time, since another program may create the first one. It returns an error if the store fails.
func (k *KB) Wanted(ctx context.Context) (bool, error) {
	switch {
	case k.config.Tools == "never":
		return false, nil
	case k.config.Tools == "always" || k.config.any():
		return true, nil
	case k.Store == nil:
		return false, nil
	}
	n, err := k.Store.Count(ctx)
	return n > 0, err
}

// Tools returns the knowledge base tools, whether or not they are wanted.
func (k *KB) Tools() []tools.Tool {
	var search retrieval.Backend = k.local
	known := bases{k.Store}
	if k.config.SearchURL != "" {
		search, known = &retrieval.Remote{URL: k.config.SearchURL}, bases{}
	}
	find, count := k.config.searchDocuments(search, known),
		k.config.getKnowledgeBaseSummary(k.Store, time.Now)
	find.Seen, count.Seen = known.seen(find.Schema), bases{k.Store}.seen(count.Schema)
	return []tools.Tool{find, count, normalizeOCRText(k.normalizer())}
}

// normalizer returns the normalizer for normalize_ocr_text. Its HTTP client has no timeout, because
// each request has its own, which is long enough for the server to load a model. It follows no
// redirects, which could lead to another server.
func (k *KB) normalizer() *ocr.Normalizer {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return &ocr.Normalizer{
		Ask: ocr.Ollama(client, cmp.Or(k.config.OCRURL, k.config.Ollama, defaultOCR),
			k.config.OCRModel), Without: ocr.Without(k.config.OCRWithout),
		Repair: k.config.OCRRepair,
	}
}

// Offer puts the tools into a registry if they are wanted, and removes them if they are not. It
// changes the registry only if this decision or the knowledge bases named in the tools have
// changed, because the registry's watchers notify every client of each change. It returns an error
// if the store fails or the registry refuses the tools.
func (k *KB) Offer(ctx context.Context, r *tools.Registry) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	wanted, err := k.Wanted(ctx)
	if err != nil {
		return err
	}
	tells := ""
	var list []tools.Tool
	if wanted {
		list, tells = k.Tools(), "tools"
		if k.Store != nil {
			all, err := k.Store.Bases(ctx, auth.Local())
			if err != nil {
				return err
			}
			for _, b := range all {
				tells += "\x00" + b.ID + "\x00" + b.Name + "\x00" + b.Description
			}
		}
	}
	if tells == k.offered {
		return nil
	}
	if err := r.Set("knowledge", list...); err != nil {
		return err
	}
	k.offered = tells
	return nil
}

// Watch calls Offer, which adds or removes the tools, after every change of the store until ctx
// ends. So the tools are offered as soon as there is a knowledge base, even if another program
// creates it. Watch returns an error if it cannot listen for changes. It calls the function failed
// with each error of Offer. It does nothing without a store.
func (k *KB) Watch(ctx context.Context, r *tools.Registry, failed func(error)) error {
	if k.Store == nil {
		return nil
	}
	changed, err := k.Store.Listen(ctx, failed)
	if err != nil {
		return err
	}
	k.beside.Go(ctx, func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case _, open := <-changed:
				if !open {
					return
				}
			}
			if err := k.Offer(ctx, r); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
	})
	return nil
}
