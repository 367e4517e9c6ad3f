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
	"toolnorm/internal/clip"
	"toolnorm/internal/embedding"
	"toolnorm/internal/post"
	"toolnorm/tools/kb/chunk"
	"toolnorm/tools/kb/kbstore"
)

// file imports one file unless it is unchanged in the knowledge base. The result reports what is
// wrong with the file; an error comes from the store or the model. Changes are found by a hash of
// the content, so that a file that was only touched or copied is not read again. The hash includes
// the version of the chunker, so that a better chunker cuts all files again.
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

// failed returns the outcome for a file that could not be imported.
func failed(source string, err error) Imported {
	return Imported{Source: source, Status: StatusFailed, Error: err.Error()}
}

// content imports the content of a file unless it is unchanged. The result reports what is wrong
// with the file; an error comes from the store or the model.
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

// same reports whether the document d needs no import because it equals old. The access rights are
// compared as well, because the same folder imported for another department must change every
// document. Without an embedding model, vectors of an earlier model are kept, since they are useful
// again when that model comes back.
func (w *work) same(old, d *kbstore.Document) bool {
	return old.Hash == d.Hash && old.Tenant == d.Tenant && old.Public == d.Public &&
		old.Clearance == d.Clearance &&
		slices.Equal(old.Departments, d.Departments) &&
		(w.Embedder == nil || old.Model == w.Embedder.Name())
}

// store cuts a text into passages, makes the vectors of the passages and of the summary, and stores
// all of them at once. What can fail because of the file comes first, then the model, and the store
// last, because others wait for it. It returns an error if the model or the store fails.
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

// embeddedAtOnce is how many texts are embedded between two reports of progress. The client of the
// model sends as many in one request.
const embeddedAtOnce = 32

// embed makes the vectors of a document's passages and of its summary. It returns how many it made,
// and how many passages are without one because the model refuses them. Passages that the document
// had before keep their vectors, so a changed line of a long handbook costs one vector. embed
// returns an error if the model or the store fails. Without a model it does nothing.
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

// embedSome returns the vectors of texts, with nil for a text that the model refuses. It returns an
// error if the model fails, or if the vectors differ in length from those in the knowledge base:
// such vectors have no distance, so every search would fail.
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

// halved returns the vectors of texts. A text that the model refuses, for example since it is
// longer than the model's context, is cut in half until the model accepts it. A text that is never
// accepted gets nil. halved returns an error if the model fails or refuses every text.
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

// shortestEmbedded is the number of characters below which a refused text is not cut further.
const shortestEmbedded = 32

// refused reports whether an error means that the model rejects the text, so that trying again
// would not help.
func refused(err error) bool {
	var said *post.Refused
	return errors.Is(err, embedding.ErrUseless) ||
		errors.As(err, &said) && (said.Code == http.StatusBadRequest ||
			said.Code == http.StatusRequestEntityTooLarge ||
			said.Code == http.StatusUnprocessableEntity)
}

// embedOne returns the vector of one text. It is empty without a model, for an empty text, and if
// the model refuses the text. It returns an error if the model fails.
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

// vectors returns the existing vectors of a document's passages. The keys of the map are the texts
// from which the vectors were made, not positions, since a new paragraph moves all passages after
// it. It returns nil if there are none of the current model, and an error if the store fails.
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

// embedded returns the text from which a passage's vector is made. The text includes the title and
// the headings, because "20 days" is useful only below "Leave".
func embedded(title string, c *kbstore.Chunk) string {
	return strings.Join(slices.DeleteFunc([]string{title, c.Heading, c.Text},
		func(s string) bool { return s == "" }), "\n")
}

// The sizes of summaries in characters. A summary says what a document is about, and is used to
// choose among documents.
const (
	longestSummary = 1000
	firstWords     = 200 // of the text itself
)

// summaryOf returns a document's title, its beginning and its headings. It needs no model and adds
// nothing to the document. A model could write better prose, but would cost more than the whole
// import. The first stage of a search compares the summary with the query, and only has to keep
// what may be relevant. For that the headings are enough.
func summaryOf(title string, passages []chunk.Passage) string {
	parts := []string{title}
	for _, p := range passages {
		if p.Heading != "" && !slices.Contains(parts, p.Heading) {
			parts = append(parts, p.Heading)
		}
	}
	if len(passages) > 0 {
		first := strings.Join(strings.Fields(passages[0].Text), " ")
		parts = slices.Insert(parts, 1, clip.Runes(first, firstWords))
	}
	return clip.Runes(strings.Join(parts, "\n"), longestSummary)
}

// describe makes the collection's summary from the titles of its documents. It writes the summary
// only if it has changed, so that a second import leaves the version, and with it every index,
// unchanged. It returns an error if the store or the model fails.
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
	summary := clip.Runes(strings.Join(parts, "\n"), longestSummary)
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
