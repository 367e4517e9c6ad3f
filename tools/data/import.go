package data

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// Imported is what an import did with one file. Files that were imported before an error are
// listed, too: their documents are in the collection.
type Imported struct {
	Source    string // the file's path, relative to the folder that was named
	Documents int
	Embedded  int // vectors that were made; the others were there, or there is no model
	Removed   int // documents that the file no longer has, if that is known
}

// embeddedAtOnce is the number of texts that are embedded between two reports of progress. The
// client of the model sends as many in one request.
const embeddedAtOnce = 32

// Import puts the documents of a file, or of all files of a folder, into the collection: a second
// import changes only what is new or gone. progress is told how many of a file's documents are
// done, and which of the files it is, counting from 1; it may be nil. Chroma has no search by
// words, so without a model there is nothing to import into it.
func (d *Data) Import(ctx context.Context, path string, progress func(source string, file, files,
	done, all int)) (done []Imported, err error) {
	if progress == nil {
		progress = func(string, int, int, int, int) {}
	}
	files, err := importable(path)
	if err != nil {
		return nil, err
	}
	if d.chroma != nil {
		if d.embedder == nil {
			return nil, d.errNoEmbedder()
		}
		if err := d.chroma.Make(ctx); err != nil {
			return nil, err
		}
	}
	for i, f := range files {
		texts, err := documentsOf(f.path)
		if err != nil {
			return done, fmt.Errorf("%s: %w", f.path, err)
		}
		one, err := d.importFile(ctx, f.source, texts, func(done, all int) {
			progress(f.source, i+1, len(files), done, all)
		})
		if err != nil {
			return done, fmt.Errorf("%s: %w", f.path, err)
		}
		done = append(done, one)
	}
	return done, nil
}

// file is a file to be read. The source identifies its documents, so it has no path of this machine
// in it, and / on every system.
type file struct{ path, source string }

// importable lists the files at a path; of a folder it lists those with a known ending. A file that
// is named directly is listed whatever its ending; reading it then reports an unknown ending as an
// error.
func importable(path string) (all []file, err error) {
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := filepath.Rel(path, at)
		if at == path {
			source = filepath.Base(path)
		}
		if at == path || readers[filepath.Ext(at)] != nil {
			all = append(all, file{at, filepath.ToSlash(source)})
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: no file that can be imported (.txt, .md, .csv, .tsv, .json, .jsonl)",
			path)
	}
	return all, err
}

// importFile replaces the documents of a source with the given ones. Ids are hashes of source and
// text, so a document that did not change keeps its id and its vector.
func (d *Data) importFile(ctx context.Context, source string, texts []string,
	progress func(done, all int)) (Imported, error) {
	all, have := make([]document, 0, len(texts)), map[string]bool{}
	for _, text := range texts {
		id := fmt.Sprintf("%.16x", sha256.Sum256([]byte(source+"\x00"+text)))
		if !have[id] {
			have[id] = true
			all = append(all, document{id: id, text: text})
		}
	}
	made, err := d.embedNew(ctx, source, all, progress)
	if err != nil {
		return Imported{}, err
	}
	out := Imported{Source: source, Documents: len(all), Embedded: made}
	if d.chroma == nil {
		model := ""
		if d.embedder != nil {
			model = d.embedder.Model
		}
		before, err := d.collection.without(ctx, source, have)
		if err != nil {
			return out, err
		}
		out.Removed = before
		return out, d.collection.replace(ctx, source, model, all)
	}
	ids, _, err := d.chroma.Records(ctx, source)
	if err != nil {
		return out, err
	}
	gone := slices.DeleteFunc(ids, func(id string) bool { return have[id] })
	out.Removed = len(gone)
	return out, d.chroma.Delete(ctx, gone)
}

// embedNew makes the vectors that do not exist yet, in batches. With Chroma each part is stored as
// soon as it has its vectors, so an import that breaks off continues from there the next time.
func (d *Data) embedNew(ctx context.Context, source string, all []document,
	progress func(done, all int)) (made int, err error) {
	progress(0, len(all))
	defer func() { progress(len(all), len(all)) }()
	if d.embedder == nil {
		return 0, nil
	}
	known := map[string][]float32{}
	if d.chroma == nil {
		if known, err = d.collection.vectors(ctx, d.embedder.Model); err != nil {
			return 0, err
		}
	} else {
		ids, _, err := d.chroma.Records(ctx, source)
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			known[id] = []float32{}
		}
	}
	var missing []int
	for i := range all {
		if v, there := known[all[i].id]; there {
			all[i].vector = v
		} else {
			missing = append(missing, i)
		}
	}
	for part := range slices.Chunk(missing, embeddedAtOnce) {
		if err := d.embedSome(ctx, source, all, part); err != nil {
			return made, err
		}
		made += len(part)
		progress(len(all)-len(missing)+made, len(all))
	}
	return made, nil
}

// embedSome makes the vectors of some documents.
func (d *Data) embedSome(ctx context.Context, source string, all []document, which []int) error {
	ids, texts := make([]string, len(which)), make([]string, len(which))
	for i, at := range which {
		ids[i], texts[i] = all[at].id, all[at].text
	}
	vectors, err := d.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i, at := range which {
		all[at].vector = vectors[i]
	}
	if d.chroma == nil {
		return nil
	}
	return d.chroma.Upsert(ctx, source, ids, texts, vectors)
}
