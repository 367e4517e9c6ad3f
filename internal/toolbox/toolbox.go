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
	Data  string // absolute path of the folder of data
	Store string // what store.Open takes; empty: db/mcp_data.db in Data

	// databases that custom tools may ask, as dynamic.Config says
	Connections map[string]string
	// told of each call of a custom tool; nil: nobody is
	Called func(ctx context.Context, r dynamic.Run)

	Databases data.Config // the settings of the data tools
	Knowledge kb.Config   // the settings of the knowledge base tools
	// the program serves: the store of knowledge bases is made, so that bases may come while it
	// runs
	Lasting bool
	Audit   func(ctx context.Context, done data.Audit) // told of each statement; nil: nobody is
	// told of what the data tools find wrong; nil: nobody is
	Warn func(text string)

	// Odd gets the error of a part whose data cannot be opened. The part is left out, and the
	// others work; nil: that is an error of Open.
	Odd func(error)

	// when the sample company's tools are offered: auto, always or never, as the setting says;
	// empty: always
	Sample string

	// Reach says which sets of tools a caller may use, as tools.Options says; nil: nobody is
	// bounded.
	Reach func(ctx context.Context) (sets []string, bounded bool)

	// Panicked is called with each tool that panicked, as tools.Options says; nil: nobody is.
	Panicked func(tool string, value any, stack []byte)
	// Watch is called around each call, as tools.Options says; nil: nobody is.
	Watch func(ctx context.Context, tool string, args json.RawMessage) (
		context.Context, func(res tools.Result, took time.Duration))
}

// Box is an open toolbox. Close it when nothing is called any more.
type Box struct {
	Registry *tools.Registry
	Company  *company.Company // nil when it is Empty, or odd
	Data     *data.Data       // nil when it is Empty, or odd
	KB       *kb.KB           // nil when it is Empty
	db       *store.DB
	stop     context.CancelFunc // ends what listens for knowledge bases; nil: nobody does
	Custom   *dynamic.Set       // tools made by administrators; nil when it is Empty, or odd
	args     *toolargs.Reader
	beside   sleep.Group
}

// Empty returns a toolbox without tools, whose registry takes others. Arguments are read and
// checked for those as well.
func Empty(c Config) *Box {
	args := new(toolargs.Reader)
	return &Box{Registry: tools.New(tools.Options{Fit: args.Fit, Panicked: c.Panicked,
		Reach: c.Reach, Watch: c.Watch}), args: args}
}

// Open opens the data, makes what is missing of it, and fills a registry. ctx bounds the opening
// alone. When a part is an error, what was opened before is closed again.
func Open(ctx context.Context, c Config) (*Box, error) {
	// What comes with the program is put into the registry that any program may fill.
	b := Empty(c)
	// The sample lies beside the other data, so that a folder that is copied is a whole.
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

// openCompany adds the sample company's tools, as the setting says: first, so that their place in
// every list is the first. With auto they are offered while there is no other tool: a model that is
// offered employees of a company that does not exist, beside the tools that its user made, calls
// them. When they are not offered, the registry knows why, for those who call one.
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

// openData adds the data tools, if they are wanted. They come behind the company's in every list.
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

// openKB opens the knowledge bases. The model that makes vectors is that of the data tools.
func (b *Box) openKB(ctx context.Context, c Config) (err error) {
	c.Knowledge.Warn = c.Warn
	if b.KB, err = kb.Open(ctx, c.Knowledge, kb.Where(c.Store), c.Databases.Embedder(),
		c.Lasting); err != nil {
		return err
	}
	if err := b.Registry.Set("knowledge"); err != nil { // its place, for a base that comes later
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

// openCustom adds the tools that administrators made. They come last, since a name of a built-in
// tool is not theirs to take. Those that are not offered now, as the knowledge base's before there
// is one, keep their names as well.
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

// Database returns the store of tools and settings; nil when the toolbox is Empty.
func (b *Box) Database() *store.DB { return b.db }

// lastCalls is how long tools may take to end whose callers have gone.
const lastCalls = 2 * time.Second

// Close closes the data, behind the calls that still run; those that do not end soon fail.
// The data goes before the database that it asks.
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
