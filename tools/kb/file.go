package kb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/embedding"
	"toolnorm/internal/post"
	"toolnorm/tools/kb/chunk"
	"toolnorm/tools/kb/kbstore"
)

// file imports one file unless it is unchanged in the knowledge base. The result reports what is
// wrong with the file; an error comes from the store or the model. The hash is of the bytes, so
// that a file which was only touched, or copied from another machine, is not read again; the hash
// includes the version of the chunker, so that a better chunker cuts all files again.
func (w *work) file(ctx context.Context, source string, progress func(done, all int)) (
	Imported, error) {
	info, err := fs.Stat(w.in.Files, source)
	if err != nil {
		return failed(source, err), nil
	}
	if info.Size() > chunk.LargestFile {
		return failed(source, fmt.Errorf("%d bytes are more than %d", info.Size(),
			chunk.LargestFile)), nil
	}
	data, err := fs.ReadFile(w.in.Files, source)
	if err != nil {
		return failed(source, err), nil
	}
	return w.content(ctx, source, data, progress)
}

// failed returns the outcome of a file that could not be imported.
func failed(source string, err error) Imported {
	return Imported{Source: source, Status: StatusFailed, Error: err.Error()}
}

// content imports the content of a file.
func (w *work) content(ctx context.Context, source string, data []byte,
	progress func(done, all int)) (Imported, error) {
	d := kbstore.Document{
		Collection: w.collection, Source: source, Access: w.in.Access,
		Hash: fmt.Sprintf("%.16x", sha256.Sum256(append([]byte(chunk.Version+"\x00"), data...))),
	}
	if old, there := w.known[source]; there && w.same(&old, &d) {
		return Imported{Source: source, Status: StatusUnchanged, Document: old.ID,
			Chunks: old.Chunks}, nil
	}
	text, err := chunk.Read(source, data)
	if err != nil {
		return failed(source, err), nil
	}
	progress(0, 1)
	return w.store(ctx, d, &text, progress)
}

// same reports whether a document needs no second import. Without an embedding model, the vectors
// of an earlier one are kept; they are of use when it comes back. The rights to see it are compared
// as well: the same folder imported for another department has to change every document.
func (w *work) same(old, d *kbstore.Document) bool {
	return old.Hash == d.Hash && old.Tenant == d.Tenant && old.Public == d.Public &&
		old.Clearance == d.Clearance &&
		slices.Equal(old.Departments, d.Departments) &&
		(w.Embedder == nil || old.Model == w.Embedder.Name())
}

// store cuts a text, makes the vectors of its passages and of its summary, and stores all at once.
// What can fail because of the file comes first, then the model, and last the store, which others
// wait for.
func (w *work) store(ctx context.Context, d kbstore.Document, text *chunk.Text,
	progress func(done, all int)) (Imported, error) {
	d.Title = text.Title
	passages := text.Cut()
	d.Summary = summaryOf(text.Title, passages)
	chunks := make([]kbstore.Chunk, len(passages))
	for i, p := range passages {
		chunks[i] = kbstore.Chunk{Heading: p.Heading, Text: p.Text}
	}
	made, without, err := w.embed(ctx, &d, chunks, progress)
	if err != nil {
		return Imported{}, err
	}
	if without > 0 {
		text.Problems = append(text.Problems, fmt.Sprintf(
			"%d passages have no vector: the model has none for them", without))
	}
	if err := w.Store.Put(ctx, w.in.Base.ID, &d, chunks); err != nil {
		return Imported{}, err
	}
	w.known[d.Source] = d
	return Imported{Source: d.Source, Status: StatusImported, Document: d.ID, Chunks: len(chunks),
		Embedded: made, Error: strings.Join(text.Problems, "; ")}, nil
}

// embeddedAtOnce is the number of texts that are embedded between two reports of progress. The
// client of the model sends as many in one request.
const embeddedAtOnce = 32

// embed makes the vectors of a document's passages and of its summary. Passages that the document
// had before keep their vectors: a changed line of a long handbook costs one vector.
func (w *work) embed(ctx context.Context, d *kbstore.Document, chunks []kbstore.Chunk,
	progress func(done, all int)) (made, without int, err error) {
	if w.Embedder == nil {
		return 0, 0, nil
	}
	had, err := w.vectors(ctx, d)
	if err != nil {
		return 0, 0, err
	}
	var missing []int
	for i := range chunks {
		if v := had[embedded(d.Title, &chunks[i])]; v != nil {
			chunks[i].Embedding = kbstore.Embedding{Model: w.Embedder.Name(), Vector: v}
		} else {
			missing = append(missing, i)
		}
	}
	for part := range slices.Chunk(missing, embeddedAtOnce) {
		texts := make([]string, len(part))
		for i, at := range part {
			texts[i] = embedded(d.Title, &chunks[at])
		}
		vectors, err := w.embedSome(ctx, texts)
		if err != nil {
			return made, without, err
		}
		for i, at := range part {
			if vectors[i] == nil {
				without++
				continue
			}
			chunks[at].Embedding = kbstore.Embedding{Model: w.Embedder.Name(), Vector: vectors[i]}
			made++
		}
		progress(len(chunks)-len(missing)+made+without, len(chunks))
	}
	d.Embedding, err = w.embedOne(ctx, d.Summary)
	return made, without, err
}

// embedSome makes the vectors of some texts. It fails if they differ in length from those in the
// knowledge base: such vectors have no distance, so every search would fail.
func (w *work) embedSome(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := w.halved(ctx, texts)
	for _, v := range vectors {
		switch {
		case v == nil || len(v) == w.dimensions:
		case w.dimensions == 0:
			w.dimensions = len(v)
		default:
			return nil, fmt.Errorf(
				"%s now gives vectors of %d dimensions, and the knowledge base has vectors of %d by that name; take the model of before, or delete the documents and import them again",
				w.Embedder.Model, len(v), w.dimensions)
		}
	}
	return vectors, err
}

// halved makes the vectors of some texts. A text that the model refuses, such as one longer than
// its context, is cut in half until the model takes it; a text that it never takes gets no vector.
func (w *work) halved(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := w.Embedder.Embed(ctx, texts)
	if refused(err) && !w.probed { // perhaps the model, and not a text, is what it refuses
		if _, wrong := w.Embedder.Embed(ctx,
			[]string{time.Now().Format(time.StampNano)}); wrong != nil {
			return nil, err
		}
		w.probed = true
	}
	switch {
	case !refused(err):
		return vectors, err
	case len(texts) > 1:
		half := len(texts) / 2
		first, err := w.halved(ctx, texts[:half])
		if err != nil {
			return nil, err
		}
		second, err := w.halved(ctx, texts[half:])
		return append(first, second...), err
	}
	runes := []rune(texts[0])
	if len(runes) < 2*shortestEmbedded {
		return [][]float32{nil}, nil
	}
	return w.halved(ctx, []string{string(runes[:len(runes)/2])})
}

// shortestEmbedded is the least number of characters to which a refused text is cut.
const shortestEmbedded = 32

// refused reports whether an error means that the model rejects the text, so that asking again
// would not help.
func refused(err error) bool {
	var said *post.Refused
	return errors.Is(err, embedding.ErrUseless) ||
		errors.As(err, &said) && (said.Code == http.StatusBadRequest ||
			said.Code == http.StatusRequestEntityTooLarge ||
			said.Code == http.StatusUnprocessableEntity)
}

// embedOne makes one vector, or none without a model. A summary is a single text, so a batch would
// save nothing.
func (w *work) embedOne(ctx context.Context, text string) (e kbstore.Embedding, err error) {
	if w.Embedder == nil || text == "" {
		return e, nil
	}
	vectors, err := w.embedSome(ctx, []string{text})
	if err != nil || vectors[0] == nil {
		return e, err
	}
	return kbstore.Embedding{Model: w.Embedder.Name(), Vector: vectors[0]}, nil
}

// vectors returns the vectors that a document's passages had, by their texts. The key is the text
// and not the place, since a new paragraph moves all those after it.
func (w *work) vectors(ctx context.Context, d *kbstore.Document) (map[string][]float32, error) {
	old, there := w.known[d.Source]
	if !there || old.Model != w.Embedder.Name() {
		return nil, nil
	}
	chunks, err := w.Store.DocumentChunks(ctx, w.in.Base.ID, old.ID, kbstore.FilterOf(auth.Local()))
	had := map[string][]float32{}
	for i := range chunks {
		if chunks[i].Model == w.Embedder.Name() {
			had[embedded(old.Title, &chunks[i])] = chunks[i].Vector
		}
	}
	return had, err
}

// embedded returns the text from which a passage's vector is made. The title and the headings are
// part of what it says: "20 days" is of use only below "Leave".
func embedded(title string, c *kbstore.Chunk) string {
	return strings.Join(slices.DeleteFunc([]string{title, c.Heading, c.Text},
		func(s string) bool { return s == "" }), "\n")
}

// The sizes of summaries in characters. Summaries serve to choose among documents, and say what
// each is about.
const (
	longestSummary = 1000
	firstWords     = 200 // of the text itself
)

// summaryOf returns a document's title, its beginning and its headings. It needs no model, and says
// nothing that the document does not say. A model could write better prose, and would cost more
// than the whole import; stage 1 of the search only has to keep what may matter, and headings name
// that in the words of the document.
func summaryOf(title string, passages []chunk.Passage) string {
	parts := []string{title}
	for _, p := range passages {
		if p.Heading != "" && !slices.Contains(parts, p.Heading) {
			parts = append(parts, p.Heading)
		}
	}
	if len(passages) > 0 {
		first := strings.Join(strings.Fields(passages[0].Text), " ")
		parts = slices.Insert(parts, 1, shortened(first, firstWords))
	}
	return shortened(strings.Join(parts, "\n"), longestSummary)
}

// shortened returns a text, or its first n characters if it is longer. It counts characters and not
// bytes: half a character of Korean would be refused by PostgreSQL.
func shortened(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n])
	}
	return text
}

// describe makes the collection's summary again from the titles of its documents. It is written
// only if it changed, so that a second import leaves the version, and with it every index, as it
// is.
func (w *work) describe(ctx context.Context) error {
	all, err := w.Store.Documents(ctx, w.in.Base.ID, kbstore.FilterOf(auth.Local()))
	if err != nil {
		return err
	}
	parts := []string{w.in.Collection}
	for _, d := range all {
		if d.Collection == w.collection && !slices.Contains(parts, d.Title) {
			parts = append(parts, d.Title)
		}
	}
	summary := shortened(strings.Join(parts, "\n"), longestSummary)
	collections, err := w.Store.Collections(ctx, w.in.Base.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(collections, func(c kbstore.Collection) bool {
		return c.ID == w.collection
	})
	if at >= 0 && collections[at].Summary == summary &&
		(w.Embedder == nil || collections[at].Model == w.Embedder.Name()) {
		return nil
	}
	e, err := w.embedOne(ctx, summary)
	if err != nil {
		return err
	}
	return w.Store.Describe(ctx, w.in.Base.ID, w.collection, summary, e)
}
