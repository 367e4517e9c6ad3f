package main

import (
	"context"
	"net/http"
	"reflect"

	"github.com/rs/zerolog"

	"toolnorm/admin"
	"toolnorm/admin/web"
	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/internal/auth"
	"toolnorm/internal/front"
	"toolnorm/internal/history"
	"toolnorm/internal/limit"
	"toolnorm/internal/metrics"
	"toolnorm/internal/shared"
	"toolnorm/internal/sleep"
	"toolnorm/internal/spans"
	"toolnorm/internal/trace"
	"toolnorm/internal/usage"
	"toolnorm/internal/version"
	"toolnorm/mcpserver"
	"toolnorm/proxy"
	"toolnorm/proxy/form/responses"
	"toolnorm/runner"
	"toolnorm/tools/find"
	"toolnorm/tools/remote"
)

// face is everything that answers requests by one set of settings. When the settings are read
// again, a new face is made (reload.go). A face never changes, so requests that are being answered
// keep the old one until they end.
type face struct {
	http.Handler
	routes   *routes
	config   Config
	settings settings
	asks     engine.Config // the configuration of engine
	engine   *engine.Engine
	meanings *find.Meanings // finds tools by their meaning; replaced together with engine
	models   *catalog       // the models that can be asked
	resource *auth.Resource // tells MCP clients who issues tokens; nil: nobody does
}

// lasting are the parts of the program that stay when the settings are read again. Their data, such
// as sessions, tokens and the last exchanges, must survive a change of the settings.
type lasting struct {
	trace   *trace.Log       // the last exchanges; nil: none are recorded
	history *history.History // nil: requests are not recorded beyond a restart
	// the goroutines that write history and usage, until the last request ends
	writes  sleep.Group
	metrics *metrics.Metrics
	limiter *limit.Limiter
	shared  *shared.Store // data that replicas share; nil: the store is a file
	desk    *desk         // by which replicas ask each other; nil: the store is a file
	spans   *spans.Tracer // nil: no traces are wanted
	usage   *usage.Usage  // nil: usage is not recorded
	reasons []chat.Reason
	replies *responses.Replies
	bodies  *front.Bodies     // limits the sum of the requests that are being answered
	mcp     *mcpserver.Server // nil: the settings switch it off
	// other MCP servers; nil: another toolnorm started this program as its MCP server
	remote  *remote.Set
	door    *door          // lets runners find this program
	runners *runner.Server // answers toolrun
	admin   *admin.Server  // answers /admin
}

// openLasting creates the parts of the program that stay when the settings are read again. They
// keep the settings with which the program was started.
func (m *Main) openLasting() {
	m.trace = m.traceLog()
	m.openHistory()
	m.openUsage()
	common := openShared(m)
	m.shared = common
	if common != nil {
		m.desk = newDesk(common)
	}
	m.replies = new(responses.Replies)
	m.bodies = &front.Bodies{Most: m.Config.MaxBodies, Uploads: "/api/blobs/", Log: m.log}
	m.limiter = &limit.Limiter{Over: m.metrics.Limited, Log: m.log}
	m.door = &door{folder: m.Config.Data, tools: m.toolbox.Registry, log: m.log, unkept: m.unkept}
	m.door.Token = runner.NewToken()
	if common != nil {
		m.replies.Shared, m.door.pending.Shared = common, common
		m.replies.Failed = func(what string, err error) { m.log.Warn().Err(err).Msg(what) }
	}
	m.runners = runner.NewServer(m.toolbox.Registry, &m.door.pending, m.log)
	if m.Config.MCP {
		cfg := m.mcpConfig(mcpKey(m, common))
		if common != nil { // an interface with a nil pointer in it would not be nil
			cfg.Shared = m.desk
		}
		m.mcp = newMCP(cfg, m.toolbox)
	}
	c := admin.Config{
		Trace: m.trace, History: m.history, Usage: m.usage, Reasons: m.reasons, Page: web.Handler(),
		Version: version.String(), Log: m.log,
		Doctor: m.examineNow, Registry: m.toolbox.Registry, KB: m.toolbox.KB,
		Tools: m.toolbox.Custom, PublicURL: m.Config.PublicURL,
	}
	if m.remote != nil { // an interface with a nil pointer in it would not be nil
		c.Servers = m.remote
	}
	if common != nil {
		c.Others = m.desk
	}
	m.admin = admin.New(c)
}

// newFace returns a face, which is everything that answers requests by these settings. Each part is
// made after the parts that it needs: the engine before the agent that asks it, and the guards
// last. If the settings of the engine are the same as in the face old, the engine of that face is
// kept, with what it has learned about models. The face old may be nil.
func (m *Main) newFace(config Config, s settings, old *face) *face {
	f := &face{config: config, settings: s, asks: config.engine(s, m.log)}
	if old != nil && f.sameEngine(old) {
		f.engine, f.meanings = old.engine, old.meanings
	} else {
		f.engine = engine.New(f.asks)
		f.meanings = f.config.meanings(f.engine)
	}
	loop := m.newAgent(&f.config, f.engine, f.meanings)
	f.models = &catalog{f.engine, loop, config.ListSuffixes, mayAsk(&f.config, f.engine)}
	chats := proxy.New(proxy.Config{
		Model: loop, Catalog: f.models, Counter: f.engine, Embedder: f.engine, Ollama: f.models,
		Log: m.log, Version: version.String(), DefaultModel: config.Model,
		Trace: m.trace, Count: m.counters(), Watch: m.spans.Observe, Reasons: m.reasons,
		LivePage: livePage(), Replies: m.replies,
		Forms: config.ClientForm, Shell: m.shell(&f.config, f.meanings),
		Thoughts: config.ReasoningField, VoidAliases: config.VoidAliases,
		MaxBody: config.MaxBody, Stall: config.ClientTimeout,
	})
	f.resource = config.resource(config.PublicURL)
	f.routes = m.mount(chats, loop)
	f.routes.Handle(auth.MetadataPath, f.resource)
	f.routes.Handle(auth.MetadataPath+"/", f.resource)
	f.Handler = toPage(withAddress(
		m.guard(f, f.routes).Wrap(
			m.spans.Wrap(m.limiter.Wrap(m.bodies.Wrap(f.routes.mux, f.config.MaxBody), s.limits,
				asksModel), asksModel))))
	return f
}

// sameEngine reports whether f and old ask model servers with the same configuration, so that the
// engine of old can be kept. Their logs are not compared, because both are the log of the program,
// which contains functions, and functions cannot be compared.
func (f *face) sameEngine(old *face) bool {
	a, b := f.asks, old.asks
	a.Log, b.Log = zerolog.Nop(), zerolog.Nop()
	return reflect.DeepEqual(a, b)
}

// show makes f answer all requests from now on. A face is everything that answers by one set of
// settings. If the engine of f is new, show starts to watch whether the model servers answer, until
// ctx ends.
func (m *Main) show(ctx context.Context, f *face) {
	old := m.now.Swap(f)
	m.admin.Use(f.models, f.settings.formats)
	m.metrics.Use(f.engine)
	if old != nil && old.engine == f.engine {
		return
	}
	if m.unwatch != nil {
		m.unwatch()
	}
	ctx, m.unwatch = context.WithCancel(ctx)
	m.watchServers(ctx, f.settings, f.engine)
}

// ServeHTTP answers a request by the settings that are in force when it arrives.
func (m *Main) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.now.Load().ServeHTTP(w, r) }
