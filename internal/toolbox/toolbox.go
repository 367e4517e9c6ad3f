// Package toolbox puts the tools that come with the program into one registry, for every program
// that offers or runs them.
//
// toolnorm's server, toolnorm mcp and toolrun must offer the same tools on the same data; what is
// set up once here cannot differ between them.
package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"toolnorm/internal/sleep"
	"toolnorm/internal/store"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
	"toolnorm/tools/company"
	"toolnorm/tools/data"
	"toolnorm/tools/dynamic"
	"toolnorm/tools/kb"
)

// Config says where the tools find their data.
type Config struct {
	Data  string // the absolute path of the folder of data
	Store string // what store.Open takes; empty: db/mcp_data.db in Data

	// the databases that custom tools may ask; see dynamic.Config
	Connections map[string]string
	// called for each call of a custom tool; may be nil
	Called func(ctx context.Context, r dynamic.Run)

	Databases data.Config // the settings of the data tools
	Knowledge kb.Config   // the settings of the knowledge base tools
	// set by programs that keep running: the store of knowledge bases is then created at once, so
	// that bases can be added later
	Lasting bool
	Audit   func(ctx context.Context, done data.Audit) // called for each SQL statement; may be nil
	// called with each problem that the data tools find; may be nil
	Warn func(text string)

	// Odd is called with the error of each part whose data cannot be opened. The part is then left
	// out, and the others work. If Odd is nil, such an error makes Open fail.
	Odd func(error)

	// when the sample company's tools are offered: "auto", "always" or "never", as the setting
	// --sample says; empty means always
	Sample string

	// Reach returns the sets of tools that a caller may use, as in tools.Options. If it is nil,
	// every caller may use all.
	Reach func(ctx context.Context) (sets []string, bounded bool)

	// Panicked is called with each tool that panicked, as in tools.Options. It may be nil.
	Panicked func(tool string, value any, stack []byte)
	// Watch is called around each call, as in tools.Options. It may be nil.
	Watch func(ctx context.Context, tool string, args json.RawMessage) (
		context.Context, func(res tools.Result, took time.Duration))
}

// Box is an open toolbox. Close it after the last call.
type Box struct {
	Registry *tools.Registry
	Company  *company.Company // nil if the box was made by Empty, or the part could not be opened
	Data     *data.Data       // nil as Company is
	KB       *kb.KB           // nil if the box was made by Empty
	db       *store.DB
	stop     context.CancelFunc // ends the watch for new knowledge bases; nil: there is none
	Custom   *dynamic.Set       // tools made by administrators; nil as Company is
	args     *toolargs.Reader
	beside   sleep.Group
}

// Empty returns a toolbox without tools. Callers can add tools to its registry, whose arguments are
// read and checked in the same way as those of built-in tools.
func Empty(c Config) *Box {
	args := new(toolargs.Reader)
	return &Box{Registry: tools.New(tools.Options{Fit: args.Fit, Panicked: c.Panicked,
		Reach: c.Reach, Watch: c.Watch}), args: args}
}

// Open opens the data, creates what is missing, and returns a toolbox with all tools registered.
// The context bounds only the opening. It fails if the database cannot be opened. If another part
// cannot be opened, it calls c.Odd and goes on, or fails if c.Odd is nil.
func Open(ctx context.Context, c Config) (*Box, error) {
	// The tools that come with the program are added to the registry, to which any program may add
	// others.
	b := Empty(c)
	// The database is in the folder of the other data, so that a copy of the folder is complete.
	if c.Store == "" {
		c.Store = filepath.Join(c.Data, "db", "mcp_data.db")
	}
	var err error
	if b.db, err = store.Open(ctx, c.Store); err != nil {
		return nil, err
	}
	for _, open := range []func(context.Context, Config) error{b.openCompany, b.openData, b.openKB,
		b.openCustom} {
		switch err := open(ctx, c); {
		case err != nil && c.Odd != nil:
			c.Odd(err)
		case err != nil:
			return nil, errors.Join(err, b.Close())
		}
	}
	return b, nil
}

// openCompany opens the sample company, and registers its tools as the setting c.Sample says:
// never, always, or with "auto" only as long as there is no other tool. With other tools, a model
// would call those of the sample although that company does not exist. For a tool that is not
// offered, the registry is told a reason, which a caller of the tool gets. openCompany must run
// before other tools are registered, so that these tools come first in every list. It fails if the
// sample's data cannot be opened.
func (b *Box) openCompany(ctx context.Context, c Config) (err error) {
	if b.Company, err = company.Open(ctx, b.db, nil); err != nil {
		return err
	}
	gone := map[string]string{}
	for _, t := range b.Company.Tools() {
		gone[t.Name] = t.Name +
			" is a tool of the sample company, which is off; --sample=always turns it on"
	}
	switch c.Sample {
	case "never":
		return b.Registry.Replace("company", gone)
	case "auto":
		return b.Registry.Fallback("company", gone, b.Company.Tools()...)
	}
	return b.Registry.Set("company", b.Company.Tools()...)
}

// Sampled reports whether the sample company's tools are offered.
func (b *Box) Sampled() bool {
	if b.Company == nil {
		return false
	}
	_, offered := b.Registry.Snapshot().Find(b.Company.Tools()[0].Name)
	return offered
}

// openData registers the data tools that are configured. They come after the company's tools in
// every list. It fails if the data cannot be opened.
func (b *Box) openData(ctx context.Context, c Config) (err error) {
	if b.Data, err = data.Open(ctx, c.Databases, b.db, c.Audit, c.Warn); err != nil {
		return err
	}
	wanted, err := b.Data.Tools(ctx)
	if err != nil {
		return err
	}
	return b.Registry.Set("data", wanted...)
}

// openKB opens the knowledge bases and registers their tools. They use the embedding model of the
// data tools. With c.Lasting it also watches for bases that are added later. It fails if the store
// of bases cannot be opened.
func (b *Box) openKB(ctx context.Context, c Config) (err error) {
	c.Knowledge.Warn = c.Warn
	if b.KB, err = kb.Open(ctx, c.Knowledge, kb.Where(c.Store), c.Databases.Embedder(),
		c.Lasting); err != nil {
		return err
	}
	if err := b.Registry.Set("knowledge"); err != nil { // reserves their place for a later base
		return err
	}
	if err := b.KB.Offer(ctx, b.Registry); err != nil || !c.Lasting {
		return err
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	return b.KB.Watch(watching, b.Registry, func(err error) {
		if c.Warn != nil {
			c.Warn(err.Error())
		}
	})
}

// openCustom registers the tools that administrators made. They come last, since they must not take
// the name of a built-in tool. Names of built-in tools that are not offered at present are reserved
// as well, for example the names of the knowledge base's tools before there is one. It fails if the
// tools cannot be read.
func (b *Box) openCustom(ctx context.Context, c Config) (err error) {
	reserved := map[string]bool{}
	for _, t := range slices.Concat(b.Company.Tools(), b.Data.All(), b.KB.Tools()) {
		reserved[t.Name] = true
	}
	b.Custom, err = dynamic.Open(ctx, dynamic.Config{
		DB: b.db, Registry: b.Registry, Fit: b.args.Fit, Connections: c.Connections, Data: c.Data,
		Asks: dynamic.Asks{Functions: c.Databases.SQLFunctions,
			AnyRole: c.Databases.SQLRole == "warn", Warn: c.Warn},
		Store: c.Store, Reserved: reserved, Audit: c.Called,
		Failed: func(err error) {
			if c.Warn != nil {
				c.Warn("custom tools: " + err.Error())
			}
		},
	})
	return err
}

// Database returns the store of tools and settings, or nil if the box was made by Empty.
func (b *Box) Database() *store.DB { return b.db }

// lastCalls is how long Close waits for tools that still run although their callers have gone.
const lastCalls = 2 * time.Second

// Close waits up to lastCalls for running calls and then closes the data; calls that still run then
// fail. The data tools are closed before the database that they ask.
func (b *Box) Close() error {
	b.beside.Close()
	b.Registry.Close(lastCalls)
	if b.db == nil {
		return nil
	}
	if b.stop != nil {
		b.stop()
	}
	b.Data.Close()
	b.Custom.Close()
	return errors.Join(b.KB.Close(), b.db.Close())
}
