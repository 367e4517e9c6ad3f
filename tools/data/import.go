package data

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Imported is what an import has done with one file. If a later file fails, the documents of this
// one are in the collection all the same.
type Imported struct {
	Source    string // the file's path, relative to the imported folder
	Documents int
	Embedded  int // vectors that were made; the others existed, or there is no model
	Removed   int // documents that were removed, since the file no longer has them
}

// embeddedAtOnce is how many texts are embedded between two reports of progress. The client of the
// model sends as many in one request.
const embeddedAtOnce = 32

// Import imports the documents of a file, or of all files in a folder, into the collection. A
// second import changes only what is new or gone. progress may be nil; it is called with the number
// of the file, from 1, and how many of its documents are done. Import returns an error, with the
// files done so far, if a file cannot be read or the model or the database fails. Chroma cannot
// search by words, so importing into it without a model is an error.
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

// file is a file to import. Its source identifies its documents, so it is a path relative to the
// imported folder, with / on every system.
type file struct{ path, source string }

// importable returns the file at a path, or the files in a folder that have a known extension. A
// file that is named directly is returned whatever its extension; reading it then reports an
// unknown one as an error. importable returns an error if path cannot be read or there are no
// files.
func importable(path string) (all []file, err error) {
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := filepath.Rel(path, at)
		if at == path {
			source = filepath.Base(path)
		}
		if at == path || readers[strings.ToLower(filepath.Ext(at))] != nil {
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

// importFile replaces the documents of a source by the given texts. Ids are hashes of source and
// text, so an unchanged document keeps its id and its vector. It returns an error if the model or
// the database fails.
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

// embedNew makes the vectors that documents of a source do not have yet, in batches, and returns
// how many. With Chroma, each batch is stored before the next is made, so after an interruption the
// next import continues with the first batch that is missing. Without a model embedNew does
// nothing. It returns an error if the model or the database fails.
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

// embedSome makes the vectors of those documents in the list all whose indexes are in the list
// "which". If Chroma is used, it also stores these documents there. It returns an error if the
// model or Chroma fails.
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
