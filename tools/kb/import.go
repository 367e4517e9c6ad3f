package kb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/chunk"
	"toolnorm/tools/kb/kbstore"
)

// Import says what is to be imported, and where to.
type Import struct {
	Base       kbstore.Base
	Collection string   // name of the collection; it is created if it does not exist
	Files      fs.FS    // the file system of the files
	Sources    []string // the files' paths in Files, which identify the documents
	// who may see the documents; an empty tenant means that of the base, no department means all
	Access kbstore.Access
	// remove the documents of the collection whose files are not in Sources
	Prune bool

	// called for each file, and for its passages as they get their vectors; may be nil
	Progress func(source string, file, files, done, all int)
	// called with the result of each file; may be nil
	Each func(Imported)
}

// The results for a file.
const (
	StatusImported  = "imported"
	StatusUnchanged = "unchanged" // the knowledge base has it unchanged
	StatusRemoved   = "removed"   // its document was removed, since the file is gone
	StatusFailed    = "failed"    // nothing changed
)

// Imported is the result of importing one file. The command line and the API use the same type, so
// that both report the same.
type Imported struct {
	Source   string `json:"source"`
	Status   string `json:"status"`
	Document string `json:"document_id,omitempty"`
	Chunks   int    `json:"chunks"`
	// vectors that were made; the others existed, or there is no model
	Embedded int `json:"embedded"`
	// what is wrong with the file, or with a part that was left out of it
	Error string `json:"error,omitempty"`
}

// Total counts the results of all files.
type Total struct {
	Imported  int `json:"imported"`
	Unchanged int `json:"unchanged"`
	Removed   int `json:"removed"`
	Failed    int `json:"failed"`
	Chunks    int `json:"chunks"` // of the imported files
	Embedded  int `json:"embedded"`
}

// add adds the result of one file to the totals. For the totals Chunks and Embedded it adds only
// files that were imported.
func (t *Total) add(i Imported) {
	switch i.Status {
	case StatusUnchanged:
		t.Unchanged++
	case StatusRemoved:
		t.Removed++
	case StatusFailed:
		t.Failed++
	default:
		t.Imported++
		t.Chunks += i.Chunks
		t.Embedded += i.Embedded
	}
}

// DefaultCollection is the collection for documents if none is named.
const DefaultCollection = "documents"

// Import imports files into a knowledge base. A second import changes only what is new, and each
// file is one transaction, so an import that was interrupted continues where it stopped. A file
// that cannot be read is reported to the function in.Each, and the import continues. An error of
// the store or of the model ends the import and is returned.
func (k *KB) Import(ctx context.Context, in Import) (total Total, err error) {
	if k.Store == nil {
		return total, errors.New("no store of knowledge bases is open")
	}
	w, err := k.prepare(ctx, &in)
	if err != nil {
		return total, err
	}
	report := func(i Imported) {
		total.add(i)
		if in.Each != nil {
			in.Each(i)
		}
	}
	for n, source := range in.Sources {
		progress := func(done, all int) {
			if in.Progress != nil {
				in.Progress(source, n+1, len(in.Sources), done, all)
			}
		}
		done, err := w.file(ctx, source, progress)
		if err != nil {
			return total, fmt.Errorf("%s: %w", source, err)
		}
		report(done)
	}
	if in.Prune {
		gone, err := w.prune(ctx)
		if err != nil {
			return total, err
		}
		for _, i := range gone {
			report(i)
		}
	}
	return total, w.describe(ctx)
}

// Add imports one file whose content is data. It ignores the fields Files, Sources and Prune. If
// the function progress is not nil, it is called with the number of passages that have their
// vectors, and the number of all. An error comes from the store or the model; a problem of the file
// is in the result. Add reads the list of all documents, which takes some milliseconds for a
// thousand of them, less than sending the file.
func (k *KB) Add(ctx context.Context, in Import, source string, data []byte,
	progress func(done, all int)) (Imported, error) {
	switch {
	case k.Store == nil:
		return Imported{}, errors.New("no store of knowledge bases is open")
	case !fs.ValidPath(source) || source == ".":
		return failed(source, errors.New("a document is known by a path like guide/leave.md")), nil
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	w, err := k.prepare(ctx, &in)
	if err != nil {
		return Imported{}, err
	}
	done, err := w.content(ctx, source, data, progress)
	if err != nil {
		return done, err
	}
	return done, w.describe(ctx)
}

// work is a running import.
type work struct {
	*KB
	in         *Import
	collection string                      // id of the collection
	known      map[string]kbstore.Document // the collection's documents, by source
	// true: the model has accepted a test text, so a refusal must be about the text itself
	probed bool
	// length of the model's vectors in the base; 0: there are none yet
	dimensions int
}

// prepare begins an import: it fills in missing settings and reads the list of the base's
// documents. It reads them once and not again for each file, because a repeated import usually only
// compares a thousand hashes. It returns an error if the store fails.
func (k *KB) prepare(ctx context.Context, in *Import) (*work, error) {
	if in.Collection == "" {
		in.Collection = DefaultCollection
	}
	if in.Access.Tenant == "" {
		in.Access.Tenant = in.Base.Tenant
	}
	// They are sorted as the store returns them; otherwise equal rights would look changed.
	slices.Sort(in.Access.Departments)
	in.Access.Departments = slices.Compact(in.Access.Departments)
	in.Access.Public = len(in.Access.Departments) == 0
	w := &work{KB: k, in: in, known: map[string]kbstore.Document{}}
	var err error
	if w.collection, err = k.Store.Collect(ctx, in.Base.ID, in.Collection); err != nil {
		return nil, err
	}
	all, err := k.Store.Documents(ctx, in.Base.ID, kbstore.FilterOf(auth.Local()))
	for _, d := range all {
		if d.Collection == w.collection {
			w.known[d.Source] = d
		}
	}
	w.dimensions = k.dimensions(all)
	return w, err
}

// dimensions returns the length of the vectors that the embedding model has made for documents, or
// 0 if there are none.
func (k *KB) dimensions(all []kbstore.Document) (n int) {
	for _, d := range all {
		if k.Embedder != nil && d.Model == k.Embedder.Name() && d.Vector != nil {
			n = len(d.Vector)
		}
	}
	return n
}

// prune removes the documents whose files are gone, and returns them. A file that exists but cannot
// be read keeps its document, since it may be unreadable only for a moment. It returns an error if
// the store fails.
func (w *work) prune(ctx context.Context) (gone []Imported, err error) {
	var ids []string
	for source, d := range w.known {
		if !slices.Contains(w.in.Sources, source) {
			gone, ids = append(gone, Imported{Source: source, Status: StatusRemoved, Document: d.ID,
				Chunks: d.Chunks}), append(ids, d.ID)
		}
	}
	slices.SortFunc(gone, func(a, b Imported) int { return strings.Compare(a.Source, b.Source) })
	return gone, w.Store.Remove(ctx, w.in.Base.ID, ids...)
}

// Left is a file in a folder that is not imported.
type Left struct {
	Source, Why string
	Kind        string // its extension, or what it is if it is not a file
}

// skipped returns what a walk through a folder returns to leave out an entry: fs.SkipDir for a
// folder, and nil for a file.
func skipped(entry fs.DirEntry) error {
	if entry != nil && entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// SourcesOf returns the file at a path, or the files in a folder that can be read, and their file
// system. A file that is named directly is returned whatever its extension; importing it then
// reports an unknown one. The result left has all other files, each with the reason why it is not
// imported. For example, names that begin with a dot belong to programs, such as .git, and a link
// could lead out of the folder or in circles. SourcesOf returns an error if the path cannot be read
// or there are no files.
func SourcesOf(at string) (files fs.FS, sources []string, left []Left, err error) {
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case !info.IsDir():
		return os.DirFS(filepath.Dir(at)), []string{filepath.Base(at)}, nil, nil
	}
	files = os.DirFS(at)
	err = fs.WalkDir(files, ".", func(source string, entry fs.DirEntry, err error) error {
		out := func(kind, why string) { left = append(left, Left{source, why, kind}) }
		switch {
		case err != nil && source == ".":
			return err
		case !utf8.ValidString(source):
			out("name", "its name is not UTF-8; rename it")
			return skipped(entry)
		case err != nil:
			out("unreadable", err.Error())
			return skipped(entry)
		case strings.HasPrefix(path.Base(source), ".") && source != ".":
			out("hidden", "its name begins with a dot")
			return skipped(entry)
		case strings.HasPrefix(path.Base(source), "~$"):
			out("lock", "an office program has made it, since a document is open")
		case entry.IsDir():
		case entry.Type()&fs.ModeSymlink != 0:
			out("link", "it is a link, and links are not followed")
		case !entry.Type().IsRegular():
			out("device", "it is no file")
		case chunk.Readable(source):
			sources = append(sources, source)
		default:
			out(cmp.Or(strings.ToLower(path.Ext(source)), "no ending"),
				chunk.Refusal(source).Error())
		}
		return nil
	})
	if err == nil && len(sources) == 0 {
		err = fmt.Errorf("%s: no file that can be imported (%s)", at,
			strings.Join(chunk.Endings(), ", "))
	}
	return files, sources, left, err
}
