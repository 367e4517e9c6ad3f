package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/cmd/toolnorm/internal/logs"
	"toolnorm/engine"
	"toolnorm/engine/wait"
	"toolnorm/internal/front"
	"toolnorm/internal/metrics"
	"toolnorm/internal/sleep"
	"toolnorm/internal/toolbox"
	"toolnorm/internal/trace"
	"toolnorm/internal/version"
	"toolnorm/proxy"
	"toolnorm/proxy/form"
)

// Main is the whole program. It has no global state, so that a test can start it, several times if
// need be, in its own process.
type Main struct {
	Config Config
	command.Console

	strays  []string     // environment variables that look like settings
	instead func() error // what to do instead of serving; nil: serve
	given   given        // where the settings came from
	log     zerolog.Logger
	level   logs.Level    // the least level that is logged
	unkept  zerolog.Level // the level of messages about a data folder that cannot be written
	toolbox *toolbox.Box  // the tools that this program runs itself
	lasting               // the parts that outlive a face
	now     atomic.Pointer[face]
	reload  reload
	server  httpServer
	beside  sleep.Group        // the goroutines that run beside the server
	stop    context.CancelFunc // ends those goroutines
	unwatch context.CancelFunc // ends the watch on the model servers of now
}

// NewMain returns a program that writes its help and the output of commands to stdout, and its log
// to stderr.
func NewMain(stdout, stderr io.Writer) *Main {
	return &Main{Console: command.Console{In: os.Stdin, Out: stdout, Err: stderr},
		server: httpServer{failed: make(chan error, 1)}, stop: func() {}, unkept: zerolog.WarnLevel}
}

// newLog returns the log that the settings ask for. An unknown level means info, but only tests set
// one, since kong checks the level.
func (m *Main) newLog() zerolog.Logger {
	m.level.Set(m.Config.LogLevel)
	if m.Config.LogFormat == "text" || m.Config.LogFormat == "auto" && m.OnTerminal() {
		return logs.ForPeople(m.Err, &m.level, m.OnTerminal() && os.Getenv("NO_COLOR") == "")
	}
	return logs.ForPrograms(m.Err, &m.level)
}

// Run starts the server and returns. All parts of the program are named here, and nowhere else.
// Each part starts after the parts that it needs: for example, the tools start before the MCP
// servers, which add more tools. It returns an error if a setting is wrong, or if the tools or the
// listener cannot be opened.
func (m *Main) Run() error {
	settings, err := m.Config.resolve()
	if err != nil {
		return command.Wrong(m.given.located(err))
	}
	m.log = m.newLog()
	m.checkData()
	sayOdd(m.log, settings)
	for _, name := range m.strays {
		m.log.Warn().Str("variable", name).Msg(
			"unknown environment variable; toolnorm serve -h lists the settings")
	}
	m.reasons = append(adapters.Reasons(), engine.Reasons()...)
	m.metrics = metrics.New(version.String(), m.reasons)
	m.openSpans()
	if err := m.openTools(); err != nil {
		return err
	}
	var beside context.Context
	beside, m.stop = context.WithCancel(context.Background())
	m.openRemote()
	m.openLasting()
	before := &front.Front{BodyWait: m.Config.BodyTimeout, Log: m.log}
	m.server.running = before.Running
	if err = m.serve(beside, before.Wrap(m), m.newFace(m.Config, settings, nil)); err != nil {
		m.stop()
		m.beside.Close()
		m.writes.Close()
		m.closeRemote()
		err = errors.Join(err, m.toolbox.Close())
	}
	return err
}

// remember returns where the engine stores what it finds out about models. A build without a
// version stores nothing, since after a change of the program it would use outdated findings.
func (c *Config) remember() engine.Remember {
	if version.String() == version.Source {
		return engine.Remember{}
	}
	return engine.Remember{File: filepath.Join(c.Data, "models.json"), Program: version.String()}
}

// engine returns the configuration of the part that asks model servers. 0 means "off" in the
// settings but "default" for the engine, so it becomes -1 for settings that can be switched off.
func (c *Config) engine(s settings, log zerolog.Logger) engine.Config {
	return engine.Config{
		Ollama: s.ollama, Upstreams: s.upstreams, Demos: c.Demo, Log: log, Remember: c.remember(),
		Naming:   engine.Naming{Aliases: c.Alias, Prefix: proxy.AliasPrefix, DefaultModel: c.Model},
		Strategy: c.Strategy, Wording: c.Wording, NoProbe: !c.Probe, Format: c.Format,
		Formats:   s.formats,
		Decoding:  engine.Decoding{Hold: s.hold, Which: s.which, Quiet: c.IgnoreThinkingCalls},
		NamesOnly: !c.Templates,
		Checking: engine.Checking{NoGrammar: !c.Grammar, Unchecked: !c.Check, NoRewrite: !c.Rewrite,
			NoReask:     !c.Reask,
			OutOfBounds: c.OutOfBounds, Misfit: c.Misfit},
		Lengths: engine.Lengths{NumCtx: c.NumCtx, MaxCtx: c.MaxCtx, Overflow: c.Overflow,
			ToolBudget: c.ToolBudget, Reasoning: c.ReasoningReplay},
		Gate: c.AskBeforeTools,
		Loops: engine.Loops{LoopGuard: c.LoopGuard, MaxRepeat: cmp.Or(c.MaxRepeat, -1),
			SameCalls: cmp.Or(c.MaxSameCalls, -1)}, Unwedge: c.UnloadStuck,
		Timeouts: wait.Timeouts{
			Load: c.LoadTimeout, FirstByte: c.FirstByteTimeout, Idle: c.IdleTimeout,
			Beat:   c.Heartbeat,
			Places: cmp.Or(c.Queue, -1), Queue: c.QueueWait,
		},
	}
}

// traceLog returns the log of the last exchanges, or nil if the settings switch it off. Texts are
// private, so it writes a warning at each start that they are recorded.
func (m *Main) traceLog() *trace.Log {
	if m.Config.Trace == 0 {
		return nil
	}
	if m.Config.TraceBodies {
		m.log.Warn().Int("exchanges", m.Config.Trace).Msg(
			"--trace-bodies: the last prompts and replies are kept in memory and visible to every user of this machine at /debug")
	}
	return trace.New(m.Config.Trace, m.Config.TraceBodies)
}

// serve listens, and answers requests in the background until Close. The other goroutines that it
// starts end with ctx. It returns an error if it cannot listen, or if other machines can reach the
// address and no key is required.
func (m *Main) serve(ctx context.Context, h http.Handler, first *face) error {
	if err := m.server.listen(m.Config.Listen); err != nil {
		return err
	}
	if err := m.mayListen(first); err != nil {
		return command.Wrong(errors.Join(err, m.server.listener.Close()))
	}
	followTools(ctx, m.toolbox, m.log)
	m.announce(first.settings)
	m.show(ctx, first)
	m.beside.Go(ctx, m.admin.Watch)
	m.join()
	if m.shared != nil {
		m.beside.Go(ctx, func(ctx context.Context) { m.limiter.Share(ctx, rand.Text(), m.shared) })
	}
	m.door.announce(ctx, m.server.listener.Addr(), &m.beside)
	if slices.Contains(slices.Collect(maps.Values(m.Config.ClientForm)), form.Shell) {
		// otherwise the warning comes when a client first uses the form shell
		m.door.seek(m.Config.Runner)
	}
	m.reload.follow(ctx, m, &m.beside)
	m.server.serve(h, m.log)
	return nil
}

// closed reports whether requests must have a key or a JWT.
func (s settings) closed() bool { return len(s.keys) > 0 || s.tokens != nil }

// mayListen returns an error if other machines can reach the address and no key is required, unless
// the settings permit that. It checks the actual address and not the setting, since a host name may
// stand for any address. It also returns an error if the setting published is no IP address.
func (m *Main) mayListen(f *face) error {
	published := m.Config.Published
	at, err := netip.ParseAddr(published)
	switch {
	case published != "" && err != nil:
		return fmt.Errorf("published: %q is not an IP address, such as 127.0.0.1", published)
	case f.settings.closed() || m.server.onLoopback() || err == nil && at.Unmap().IsLoopback():
		return nil
	case published != "" && !f.config.InsecureNoKeys:
		return fmt.Errorf(
			"published: other machines can reach %s, but no API key is set: set TOOLNORM_API_KEYS, or publish the port at 127.0.0.1", published)
	case !f.config.InsecureNoKeys:
		return fmt.Errorf(
			"listen: other machines can reach %s, but no API key is set: set --api-keys-file or --api-keys (TOOLNORM_API_KEYS), or take JWTs (--jwt-keys), listen on 127.0.0.1, or let everybody in with --insecure-no-keys", m.Config.Listen)
	}
	m.log.Warn().Str("listen", m.Config.Listen).Msg(
		"no API key is set: every machine that reaches this address can use the models")
	return nil
}

// URL returns the address of the server, without a slash at its end. It must be called after Run,
// since with port 0 only the listener knows the port.
func (m *Main) URL() string { return "http://" + m.server.listener.Addr().String() }

// Failed returns the channel of the error that ends the server, if one does. A port that is in use
// is an error of Run, whereas this channel is for a server that fails later.
func (m *Main) Failed() <-chan error { return m.server.failed }

// Close stops taking requests, and waits for those that run for as long as the settings say; then
// it aborts them. It first removes the file with the address for runners (toolrun), so that no new
// call comes, and ends the streams of MCP clients, which would never end by themselves. It returns
// an error if a part cannot be closed.
func (m *Main) Close() error {
	if m.server.http != nil {
		m.server.drain(m.now.Load().config.Drain, m.log)
	}
	m.stop()
	defer m.closeRemote()
	if m.server.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.now.Load().config.Grace)
	defer cancel()
	m.beside.Close()
	m.door.withdraw()
	m.admin.Close()
	m.closeMCP(ctx)
	err := m.server.shutdown(ctx, m.Config.Grace, m.log)
	m.writes.Close()
	m.bodies.Close()
	m.closeSpans()
	return errors.Join(err, m.toolbox.Close())
}
