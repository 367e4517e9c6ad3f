package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"toolnorm/internal/auth"
	"toolnorm/internal/toolbox"
	"toolnorm/tools/data"
	"toolnorm/tools/kb"
	"toolnorm/tools/kb/kbstore"
)

// KB are the commands for knowledge bases.
type KB struct {
	Create kbCreate `cmd:"" help:"Make a knowledge base; prints its id."`
	Import kbImport `cmd:"" help:"Put files into a knowledge base: office files, PDF, HTML, Markdown, text, CSV, e-mails and books. Running it again imports only what changed, so an interrupted import continues where it stopped."`
	List   kbList   `cmd:"" help:"List the knowledge bases."`
	Show   kbShow   `cmd:"" help:"List the documents of a knowledge base, and who may see them."`
	Sample kbSample `cmd:"" help:"Make a sample knowledge base, an HR handbook in Korean, Japanese and English; prints its id."`
	Delete kbDelete `cmd:"" help:"Delete a knowledge base, or some of its documents."`
}

// kbPlace has the settings that say where the knowledge bases are. They are settings of serve as
// well, so that both use the same knowledge bases.
type kbPlace struct {
	Stores `embed:""`

	Databases data.Config `embed:""`
}

// open passes the knowledge bases to the function do, after creating their store if it does not
// exist. Access is not restricted, since a user of the command line can read the store's file
// anyway. It returns an error if the store cannot be opened, or the error of that function.
func (c *kbPlace) open(m *Console, do func(ctx context.Context, k *kb.KB) error) error {
	return withToolbox(c.Data, toolbox.Config{Store: c.Store, Databases: c.Databases, Lasting: true,
		Warn: m.warn}, hasKB, func(ctx context.Context, box *toolbox.Box) error {
		return do(auth.WithPrincipal(ctx, auth.Local()), box.KB)
	})
}

// hasKB reports whether the knowledge bases could be opened.
func hasKB(box *toolbox.Box) bool { return box.KB != nil && box.KB.Problem == nil }

// warn prints a warning about something that cannot be used and was left out.
func (m *Console) warn(text string) { fmt.Fprintln(m.Err, "toolnorm:", printable(text)) }

// openBase passes the knowledge base of that id or name to the function do. It returns an error if
// there is no such base, or the error of that function.
func (c *kbPlace) openBase(m *Console, which string, do func(ctx context.Context, k *kb.KB,
	b kbstore.Base) error) error {
	return c.open(m, func(ctx context.Context, k *kb.KB) error {
		b, err := find(ctx, k, which)
		if err != nil {
			return err
		}
		return do(ctx, k, b)
	})
}

// find returns the knowledge base of that id or name. Programs use ids; people type names. It
// returns an error if there is none, or if several tenants have one of the name.
func find(ctx context.Context, k *kb.KB, which string) (found kbstore.Base, err error) {
	if kbstore.ValidID(which) {
		return k.Store.Base(ctx, which)
	}
	all, err := k.Store.Bases(ctx, auth.PrincipalOf(ctx))
	n := 0
	for _, b := range all {
		if b.Name == which {
			found = b
			n++
		}
	}
	switch {
	case err != nil:
		return found, err
	case n == 0:
		return found, Wrong(fmt.Errorf("there is no knowledge base %q; toolnorm kb list shows them",
			which))
	case n > 1:
		return found, Wrong(fmt.Errorf("%d knowledge bases are called %q; name one by its id", n,
			which))
	}
	return found, nil
}

// kbCreate is the command "toolnorm kb create", which makes an empty knowledge base.
type kbCreate struct {
	Name        string `arg:"" help:"Its name, which models and people read."`
	Description string `help:"What it holds, in a sentence."`
	Tenant      string `placeholder:"NAME" help:"Whose it is: the tenant_id of the JWTs that may look into it. Default: those without one."`
	ID          string `name:"id" placeholder:"UUID" help:"Its id. Default: a random one."`
	// The settings come last, so that the help begins with the command's own options.
	kbPlace      `embed:""`
	ollamaServer `embed:""`
}

// Run creates a knowledge base and prints its id. If no embedding model is set, but the Ollama
// server has one, it also prints how to set it. It returns an error if the base cannot be created.
func (c *kbCreate) Run(m *Console) error {
	return c.open(m, func(ctx context.Context, k *kb.KB) error {
		b, err := k.Store.Create(ctx,
			kbstore.Base{ID: c.ID, Name: c.Name, Description: c.Description, Tenant: c.Tenant})
		if err != nil {
			return err
		}
		fmt.Fprintln(m.Out, b.ID)
		if k.Embedder == nil {
			m.offerEmbedder(ctx, c.ollamaServer)
		}
		return nil
	})
}

// kbImport is the command kb import. Rights are flags and not part of the files, since anyone who
// can write a file could give it any rights.
type kbImport struct {
	KB         string   `arg:"" name:"kb" help:"The knowledge base, by its id or name."`
	Path       string   `arg:"" help:"A file or a folder: .docx, .xlsx, .pptx, .odt, .ods, .odp, .hwpx, .pdf, .html, .md, .txt, .csv, .tsv, .eml, .epub."`
	Collection string   `default:"documents" placeholder:"NAME" help:"The collection the files belong to."`
	Department []string `placeholder:"NAME" help:"Departments that may see the documents. Default: all."`
	Clearance  int      `placeholder:"N" help:"The clearance that seeing them needs. Default: 0."`
	Tenant     string   `placeholder:"NAME" help:"The tenant they belong to. Default: that of the knowledge base."`
	Prune      bool     `help:"Take documents of the collection out whose files are gone from the folder."`
	Verbose    bool     `short:"v" env:"-" help:"Print a line for each file that is imported or left out, also where there are many."`

	kbPlace      `embed:""`
	ollamaServer `embed:""`
}

// leftOut prints which files of a folder were not imported. Each file is listed with its reason if
// they are few or verbose is set. Then follows how many there are of each kind.
func (m *Console) leftOut(left []kb.Left, verbose bool) {
	kinds := map[string]int{}
	for _, l := range left {
		kinds[l.Kind]++
		if verbose || len(left) <= mostLines {
			fmt.Fprintf(m.Err, "%s: left out: %s\n", printable(l.Source), printable(l.Why))
		}
	}
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		counts = append(counts, fmt.Sprintf("%d %s", kinds[kind], printable(kind)))
	}
	if len(left) > 0 {
		fmt.Fprintf(m.Err, "left out: %s (%s)\n", count(len(left), "file"),
			strings.Join(counts, ", "))
	}
}

// mostLines is the greatest number of files for which an import prints a line each.
const mostLines = 20

// Run imports the files. It prints a line for each file that failed and, if they are few, for each
// file that changed; progress is written to standard error. It returns an error if the path or the
// knowledge base does not exist, or if a file failed.
func (c *kbImport) Run(m *Console) error {
	files, sources, left, err := kb.SourcesOf(c.Path)
	if err != nil {
		return Wrong(err)
	}
	if info, err := os.Stat(c.Path); c.Prune && err == nil && !info.IsDir() {
		return Wrong(errors.New("--prune takes a folder: every document but this one would go"))
	}
	return c.openBase(m, c.KB, func(ctx context.Context, k *kb.KB, b kbstore.Base) error {
		defer m.leftOut(left, c.Verbose)
		return c.run(ctx, m, k, kb.Import{
			Base: b, Collection: c.Collection, Files: files, Sources: sources, Prune: c.Prune,
			Access: kbstore.Access{Tenant: c.Tenant, Departments: c.Department,
				Clearance: c.Clearance},
		})
	})
}

// run imports and reports. Changes are written to standard output and failures to standard error,
// so that a script can tell them apart. Unchanged files get no line, so a second import of a
// thousand files prints one line. It returns an error if the import was stopped or a file failed.
func (c *kbImport) run(ctx context.Context, m *Console, k *kb.KB, in kb.Import) error {
	if m.OnTerminal() {
		in.Progress = m.begin("passages").show
	}
	verbose := c.Verbose || len(in.Sources) <= mostLines
	in.Each = func(i kb.Imported) {
		m.Clear()
		switch i.Status {
		case kb.StatusFailed:
			fmt.Fprintf(m.Err, "%s: %s\n", printable(i.Source), printable(i.Error))
		case kb.StatusImported, kb.StatusRemoved:
			if verbose {
				fmt.Fprintf(m.Out, "%s: %s, %d passages\n", printable(i.Source), i.Status, i.Chunks)
			}
			if i.Error != "" {
				fmt.Fprintf(m.Err, "%s: %s\n", printable(i.Source), printable(i.Error))
			}
		}
	}
	total, err := k.Import(ctx, in)
	m.Clear()
	fmt.Fprintf(m.Out,
		"%d imported, %d unchanged, %d removed, %d failed; %d passages, %d embedded\n",
		total.Imported, total.Unchanged, total.Removed, total.Failed, total.Chunks, total.Embedded)
	if k.Embedder == nil && total.Imported > 0 {
		fmt.Fprintln(m.Err,
			"no embedding model is set (--text-embedding-model-url): passages are found by their words, not by their meaning")
		m.offerEmbedder(ctx, c.ollamaServer)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("stopped after %d of %d files; run the command again to go on",
			total.Imported+total.Unchanged+total.Failed, len(in.Sources))
	case err != nil:
		return fmt.Errorf("%w; run the command again to go on", err)
	case total.Failed > 0:
		return fmt.Errorf("%d of %d files could not be imported", total.Failed, len(in.Sources))
	}
	return nil
}

// kbList is the command "toolnorm kb list", which prints the knowledge bases.
type kbList struct {
	kbPlace `embed:""`
}

// Run prints a line for each knowledge base. It returns an error if they cannot be read.
func (c *kbList) Run(m *Console) error {
	if err := c.there(); err != nil {
		return err
	}
	return c.open(m, func(ctx context.Context, k *kb.KB) error {
		all, err := k.Store.Bases(ctx, auth.PrincipalOf(ctx))
		for _, b := range all {
			fmt.Fprintf(m.Out, "%s  %s\n", b.ID, printable(describe(&b)))
		}
		return err
	})
}

// describe returns the name and the description of a knowledge base, as the tool
// get_knowledge_base_summary writes them, followed by the tenant.
func describe(b *kbstore.Base) string {
	text := b.Name
	if b.Description != "" {
		text += ": " + b.Description
	}
	if b.Tenant != "" {
		text += " (tenant " + b.Tenant + ")"
	}
	return text
}

// kbShow is the command "toolnorm kb show", which prints a knowledge base and its documents.
type kbShow struct {
	KB      string `arg:"" name:"kb" help:"The knowledge base, by its id or name."`
	kbPlace `embed:""`
}

// Run prints the knowledge base, and a line for each of its documents. It returns an error if it
// does not exist or cannot be read.
func (c *kbShow) Run(m *Console) error {
	if err := c.there(); err != nil {
		return err
	}
	return c.openBase(m, c.KB, func(ctx context.Context, k *kb.KB, b kbstore.Base) error {
		fmt.Fprintf(m.Out, "%s\n%s\n", b.ID, printable(describe(&b)))
		collections, err := k.Store.Collections(ctx, b.ID)
		if err != nil {
			return err
		}
		names := map[string]string{}
		for _, c := range collections {
			names[c.ID] = c.Name
		}
		all, err := k.Store.Documents(ctx, b.ID, kbstore.FilterOf(auth.PrincipalOf(ctx)))
		for _, d := range all {
			fmt.Fprintf(m.Out, "  %s/%s: %s, %d passages, %s\n", printable(names[d.Collection]),
				printable(d.Source), printable(d.Title), d.Chunks,
				printable(readers(&d.Access, b.Tenant)))
		}
		return err
	})
}

// readers returns a text that says who may see a document of a knowledge base of this tenant;
// "everyone" means everyone of the tenant.
func readers(a *kbstore.Access, tenant string) string {
	text := "everyone"
	if !a.Public {
		text = strings.Join(a.Departments, ", ")
	}
	if a.Clearance > 0 {
		text += fmt.Sprintf(" with clearance %d", a.Clearance)
	}
	if a.Tenant != tenant {
		text += fmt.Sprintf(" of tenant %q", a.Tenant)
	}
	return text
}

// kbSample is the command "toolnorm kb sample", which makes a knowledge base to try things with.
type kbSample struct {
	kbPlace `embed:""`
}

// Run creates the sample knowledge base and prints its id, or returns an error if it cannot.
func (c *kbSample) Run(m *Console) error {
	return c.open(m, func(ctx context.Context, k *kb.KB) error {
		b, err := k.Sample(ctx)
		if err == nil {
			fmt.Fprintln(m.Out, b.ID)
		}
		return err
	})
}

// kbDelete is the command kb delete. It does not ask for confirmation, because a command that asks
// cannot be used in a script, and the user still has the files.
type kbDelete struct {
	KB       string   `arg:"" name:"kb" help:"The knowledge base, by its id or name."`
	Document []string `placeholder:"SOURCE" help:"Delete these documents alone, by the paths that kb show prints behind the collection."`
	kbPlace  `embed:""`
}

// Run deletes the knowledge base or some of its documents. If one of the documents does not exist,
// it deletes nothing and returns an error, so that a misspelt path is noticed.
func (c *kbDelete) Run(m *Console) error {
	return c.openBase(m, c.KB, func(ctx context.Context, k *kb.KB, b kbstore.Base) error {
		if len(c.Document) == 0 {
			return k.Store.Delete(ctx, b.ID)
		}
		all, err := k.Store.Documents(ctx, b.ID, kbstore.FilterOf(auth.PrincipalOf(ctx)))
		if err != nil {
			return err
		}
		ids := map[string][]string{}
		for _, d := range all {
			ids[d.Source] = append(ids[d.Source], d.ID)
		}
		var gone []string
		for _, source := range c.Document {
			if ids[source] == nil {
				return Wrong(fmt.Errorf("%s has no document %s", b.Name, source))
			}
			gone = append(gone, ids[source]...)
		}
		return k.Store.Remove(ctx, b.ID, gone...)
	})
}

// Docs are the commands for the collection of documents that the data tools search.
type Docs struct {
	Import docsImport `cmd:"" help:"Put the documents of a file, or of a folder's files, into the collection. Running it again changes only what is new or gone."`
}

// docsImport is the command docs import. It takes the settings data and store of serve, so that it
// writes to where serve reads.
type docsImport struct {
	Path   string `arg:"" help:"A .txt (a document a line), .md (a paragraph), .csv or .tsv (a row), .json (a list) or .jsonl, or a folder of such."`
	Stores `embed:""`

	Databases data.Config `embed:""`
}

// hasData reports whether the collection of documents in box could be opened.
func hasData(box *toolbox.Box) bool { return box.Data != nil }

// Run imports the documents and prints a line for each file; progress is written to standard error.
// It returns an error if a file cannot be imported. The files before it are printed, too, since
// they are in the collection.
func (c *docsImport) Run(m *Console) error {
	return withToolbox(c.Data, toolbox.Config{Store: c.Store, Databases: c.Databases}, hasData,
		func(ctx context.Context, box *toolbox.Box) error {
			all, err := box.Data.Import(ctx, c.Path, m.begin("documents").show)
			m.Clear()
			for _, one := range all {
				fmt.Fprintf(m.Out, "%s: %d documents, %d embedded, %d removed\n",
					printable(one.Source), one.Documents, one.Embedded, one.Removed)
			}
			return err
		})
}
