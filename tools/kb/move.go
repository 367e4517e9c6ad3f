package kb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
)

// Move moves a document to another knowledge base, into the collection of the same name. It returns
// how many new vectors it made. The passages keep their vectors if the current embedding model made
// them and they have the length of those in the other base. Otherwise they get new vectors first,
// and if that fails, nothing is moved. Without an embedding model, vectors are kept. It returns
// kbstore.ErrNoDocument if there is no such document, or another error if the model or the store
// fails.
func (k *KB) Move(ctx context.Context, from, to kbstore.Base, document string) (
	made int, err error) {
	everything := kbstore.FilterOf(auth.Local())
	here, err := k.Store.Documents(ctx, from.ID, everything)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(here, func(d kbstore.Document) bool { return d.ID == document })
	if at < 0 {
		return 0, kbstore.ErrNoDocument
	}
	d := here[at]
	there, err := k.Store.Documents(ctx, to.ID, everything)
	if err != nil {
		return 0, err
	}
	collections, err := k.Store.Collections(ctx, from.ID)
	if err != nil {
		return 0, err
	}
	in := slices.IndexFunc(collections, func(c kbstore.Collection) bool {
		return c.ID == d.Collection
	})
	if in < 0 { // its row cannot be read, so the document's collection is not known
		return 0, kbstore.ErrNoDocument
	}
	name := collections[in].Name
	left := &work{KB: k, in: &Import{Base: from, Collection: name}, collection: d.Collection,
		dimensions: k.dimensions(here)}
	arrived := &work{KB: k, in: &Import{Base: to, Collection: name},
		dimensions: k.dimensions(there)}
	chunks, made, err := arrived.embedFor(ctx, from, &d, there)
	if err != nil {
		return 0, err
	}
	if err := k.Store.Move(ctx, from, to, &d, chunks); err != nil {
		return 0, err
	}
	if arrived.collection, err = k.Store.Collect(ctx, to.ID, name); err == nil {
		err = errors.Join(left.describe(ctx), arrived.describe(ctx))
	}
	if err != nil {
		err = fmt.Errorf(
			"the document was moved, and the summaries of the collections are those of before; the next import makes them anew: %w", err)
	}
	return made, err
}

// embedFor makes new vectors for the document d if its vectors do not fit the base to which it is
// moved. The parameter from is the base from which it comes, and the parameter there has the
// documents of the new one. It returns the document's passages and how many vectors it made, or no
// passages if the old vectors fit. It returns an error if they do not fit and there is no model, or
// if the model or the store fails.
func (w *work) embedFor(ctx context.Context, from kbstore.Base, d *kbstore.Document,
	there []kbstore.Document) (chunks []kbstore.Chunk, made int, err error) {
	other := slices.ContainsFunc(there, func(o kbstore.Document) bool {
		return o.Model == d.Model && len(o.Vector) > 0 && len(d.Vector) > 0 &&
			len(o.Vector) != len(d.Vector)
	})
	switch {
	case w.Embedder == nil && other:
		return nil, 0, fmt.Errorf(
			"the document has vectors of %d dimensions by %s, and the other knowledge base has longer or shorter ones by that name; set the embedding model (--text-embedding-model-url), which makes them anew",
			len(d.Vector), d.Model)
	case w.Embedder == nil, !other && d.Model == w.Embedder.Name():
		return nil, 0, nil
	}
	if chunks, err = w.Store.DocumentChunks(ctx, from.ID, d.ID,
		kbstore.FilterOf(auth.Local())); err != nil {
		return nil, 0, err
	}
	for i := range chunks {
		chunks[i].Embedding = kbstore.Embedding{}
	}
	made, _, err = w.embed(ctx, d, chunks, func(int, int) {})
	return chunks, made, err
}
