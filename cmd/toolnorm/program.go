package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/admin"
	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/engine"
	"toolnorm/engine/wait"
	"toolnorm/internal/front"
	"toolnorm/internal/sleep"
	"toolnorm/internal/toolbox"
	"toolnorm/internal/trace"
	"toolnorm/mcpserver"
	"toolnorm/proxy"
	"toolnorm/runner"
	"toolnorm/tools/remote"
)

// Main is the whole program, so that a test can start it in its own process.
// Nothing of it is global, so that several can run in one process.
type Main struct {
	Config Config
	command.Console

	strays   []string     // environment variables that look like settings
	instead  func() error // what to do instead of serving; nil: serve
	log      zerolog.Logger
	unkept   zerolog.Level     // of what is told when the data folder cannot be written
	toolbox  *toolbox.Box      // the tools that this program runs itself
	pending  runner.Pending    // their calls that are too long for a command line
	door     runner.Address    // where runners find this program
	beside   sleep.Group       // what runs beside the server
	sought   sync.Once         // the runner, on the path
	mcp      *mcpserver.Server // nil: the settings want none
	admin    *admin.Server     // what /admin is answered by
	remote   *remote.Set       // other MCP servers; nil: this program is one of theirs
	given    given             // where the settings came from
	lasting  lasting           // what outlives a face
	trace    *trace.Log        // the last exchanges; nil: none are kept
	level    atomic.Int32      // of the log
	now      atomic.Pointer[face]
	unwatch  context.CancelFunc // ends the watch on the model servers of now
	reload   reload
	server   *http.Server
	serving  sync.WaitGroup
	listener net.Listener
	failed   chan error
	stop     context.CancelFunc      // ends what runs beside the server
	running  func() int              // requests that are being answered
	cut      context.CancelCauseFunc // ends those, which are told why
}

// NewMain makes a program that writes its help, and what commands print, to stdout and its log to stderr.
func NewMain(stdout, stderr io.Writer) *Main {
	return &Main{Console: command.Console{In: os.Stdin, Out: stdout, Err: stderr}, failed: make(chan error, 1), stop: func() {}, unkept: zerolog.WarnLevel}
}

// Run starts to serve and returns. The parts of the program are named here, and nowhere else.
// The order is that of need: tools before the servers that add some, what is kept before what answers (face.go).
func (m *Main) Run() error {
	settings, err := m.Config.resolve()
	if err != nil {
		return command.Wrong(m.given.located(err))
	}
	m.log = m.newLog()
	m.checkData()
	sayOdd(m.log, settings)
	for _, name := range m.strays {
		m.log.Warn().Str("variable", name).Msg("unknown environment variable; toolnorm serve -h lists the settings")
	}
	if err := m.openTools(); err != nil {
		return err
	}
	var beside context.Context
	beside, m.stop = context.WithCancel(context.Background())
	m.openRemote()
	m.openLasting()
	before := &front.Front{BodyWait: m.Config.BodyTimeout, Log: m.log}
	m.running = before.Running
	if err = m.serve(beside, before.Wrap(m), m.newFace(m.Config, settings, nil)); err != nil {
		m.stop()
		m.beside.Close()
		m.closeRemote()
		err = errors.Join(err, m.toolbox.Close())
	}
	return err
}

// engine are the settings of the part that asks model servers.
// 0 is off for a user and the default for the engine, so it becomes -1 where a setting can be switched off.
func (c *Config) engine(s settings, log zerolog.Logger) engine.Config {
	return engine.Config{
		Ollama: s.ollama, Upstreams: s.upstreams, Aliases: c.Alias, Prefix: proxy.AliasPrefix, Demos: c.Demo, Log: log,
		Strategy: c.Strategy, Wording: c.Wording, NoProbe: !c.Probe, Format: c.Format, Formats: s.formats,
		Hold: s.hold, Which: s.which, Quiet: c.IgnoreThinkingCalls, NamesOnly: !c.Templates,
		NoGrammar: !c.Grammar, Unchecked: !c.Check, NoRewrite: !c.Rewrite, NoReask: !c.Reask, Gate: c.AskBeforeTools, NumCtx: c.NumCtx, MaxCtx: c.MaxCtx, Overflow: c.Overflow, ToolBudget: c.ToolBudget, Reasoning: c.ReasoningReplay, DefaultModel: c.Model,
		LoopGuard: c.LoopGuard, Unwedge: c.UnloadStuck, MaxRepeat: cmp.Or(c.MaxRepeat, -1), SameCalls: cmp.Or(c.MaxSameCalls, -1), OutOfBounds: c.OutOfBounds, Misfit: c.Misfit,
		Timeouts: wait.Timeouts{
			Load: c.LoadTimeout, FirstByte: c.FirstByteTimeout, Idle: c.IdleTimeout, Beat: c.Heartbeat,
			Places: cmp.Or(c.Queue, -1), Queue: c.QueueWait,
		},
	}
}

// traceLog keeps the last exchanges; nil when the settings want none.
// Texts are private, so the log says at each start that they are kept.
func (m *Main) traceLog() *trace.Log {
	if m.Config.Trace == 0 {
		return nil
	}
	if m.Config.TraceBodies {
		m.log.Warn().Int("exchanges", m.Config.Trace).Msg("--trace-bodies: the last prompts and replies are kept in memory and visible to every user of this machine at /debug")
	}
	return trace.New(m.Config.Trace, m.Config.TraceBodies)
}

// ballast is memory that a server holds and never touches, in bytes, so that it costs addresses and no pages. Go collects garbage when
// the heap has doubled, and a live heap of 5 MB doubles with every second request of 200 KiB: a third of such a request's
// processor time went into collecting. With the ballast there are 21 MB between two collections, and the memory of a server grows by
// no more than these.
const ballast = 16 << 20

// serve listens and answers until Close.
// No WriteTimeout is set: a reply may stream for an hour. A client that takes nothing is given up elsewhere,
// by Stall, and a body that comes too slowly by the front.
// What runs beside the server ends with ctx.
func (m *Main) serve(ctx context.Context, h http.Handler, first *face) error {
	var err error
	requests, cut := context.WithCancelCause(context.Background())
	m.cut = cut
	if m.listener, err = net.Listen("tcp", m.Config.Listen); err != nil {
		return taken(m.Config.Listen, err)
	}
	if err := m.mayListen(first); err != nil {
		return command.Wrong(errors.Join(err, m.listener.Close()))
	}
	m.server = &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          stdlog.New(m.log.With().Str("part", "http").Logger(), "", 0),
	}
	m.followTools(ctx)
	m.announce(first.settings)
	m.show(ctx, first)
	m.beside.Go(ctx, m.admin.Watch)
	m.announceDoor(ctx)
	m.followSettings(ctx)
	m.serving.Go(func() { // ends when the server is closed; Close waits for it
		space := make([]byte, ballast)
		defer runtime.KeepAlive(space)
		if err := m.server.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
			m.failed <- fmt.Errorf("serve: %w", err)
		}
	})
	return nil
}

// closed says that requests must bear something that opens: a key or a JWT.
func (s settings) closed() bool { return len(s.keys) > 0 || s.tokens != nil }

// mayListen refuses an address that other machines can reach, when no key is asked for and the settings do not want that.
// The address that was taken is looked at and not the setting: a host name may stand for anything.
func (m *Main) mayListen(f *face) error {
	if f.settings.closed() || m.onLoopback() {
		return nil
	}
	if !f.config.InsecureNoKeys {
		return fmt.Errorf("listen: other machines can reach %s, but no API key is set: set --api-keys-file or --api-keys (TOOLNORM_API_KEYS), or take JWTs (--jwt-keys), listen on 127.0.0.1, or let everybody in with --insecure-no-keys", m.Config.Listen)
	}
	m.log.Warn().Str("listen", m.Config.Listen).Msg("no API key is set: every machine that reaches this address can use the models")
	return nil
}

// URL is the address that the server has, without a slash at its end. It is known once Run has returned.
// With port 0 only the listener knows it.
func (m *Main) URL() string { return "http://" + m.listener.Addr().String() }

// Failed gives the error that ended the server, if one did.
// A port that is taken is an error of Run; this is for a server that breaks later.
func (m *Main) Failed() <-chan error { return m.failed }

// Close takes no more requests and waits for those that run, for as long as the settings say; then it cuts them.
// The address of the runner goes first, so that no new call comes; streams of MCP clients would never end by
// themselves.
func (m *Main) Close() error {
	m.stop()
	defer m.closeRemote()
	if m.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.now.Load().config.Grace)
	defer cancel()
	m.beside.Close()
	m.withdrawDoor()
	m.admin.Close()
	m.closeMCP(ctx)
	err := m.shutdown(ctx)
	m.serving.Wait()
	m.lasting.bodies.Close()
	return errors.Join(err, m.toolbox.Close())
}
