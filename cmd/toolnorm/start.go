package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/admin"
	"toolnorm/agent"
	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/engine/upstream"
	"toolnorm/internal/home"
	"toolnorm/internal/sleep"
	"toolnorm/internal/version"
	"toolnorm/proxy/form"
)

// checkListen returns an error if the address is no valid HOST:PORT to listen on. The error
// suggests the address that may have been meant.
func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	switch {
	case err == nil && port != "":
		if _, wrong := strconv.ParseUint(port, 10, 16); wrong != nil {
			return fmt.Errorf("listen: %q is not a valid port (0 to 65535), as in %s", port,
				net.JoinHostPort(cmp.Or(host, "127.0.0.1"), "11435"))
		}
		return nil
	case strings.Trim(address, "0123456789") == "" && address != "":
		port = address
	case err != nil:
		host = strings.Trim(address, "[]")
	}
	meant := net.JoinHostPort(cmp.Or(host, "127.0.0.1"), cmp.Or(port, "11435"))
	return fmt.Errorf("listen: %q is not a valid HOST:PORT; did you mean %s?", address, meant)
}

// listenError returns an error that explains err, with which listening at the address failed. For
// common causes it says what to do.
func listenError(address string, err error) error {
	switch host, _, _ := net.SplitHostPort(address); {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf(
			"listen: %s is in use, perhaps by another toolnorm; stop that one, or take another address with --listen", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf(
			"listen: this machine has no address %s; 127.0.0.1 serves this machine, 0.0.0.0 every network", host)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf(
			"listen: only the system's administrator may take %s; take a port above 1023", address)
	}
	return fmt.Errorf("listen: %w", err)
}

// checkStore returns an error for a relative path to the database, which would mean a different
// database in each folder in which the program is started.
func checkStore(where string) error {
	if where == "" || filepath.IsAbs(where) || strings.HasPrefix(where, "postgres://") ||
		strings.HasPrefix(where, "postgresql://") {
		return nil
	}
	abs, _ := filepath.Abs(where) // empty if the current folder is gone
	return fmt.Errorf(
		"store: %q is neither an absolute path nor a postgres:// URL; did you mean %s?", where, abs)
}

// checkFolder returns an error if the data folder exists but is no folder, since the setting is
// wrong then. A folder that cannot be written only causes a warning, since a container may be
// read-only.
func checkFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("data: %s is not a folder", dir)
	}
	return nil
}

// checkData logs one warning if the data folder cannot be written. From then on each part that
// cannot store something logs that only at debug level, because four warnings with one cause would
// hide the cause.
func (m *Main) checkData() {
	err := os.MkdirAll(m.Config.Data, 0o700)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(m.Config.Data, ".writable-*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		m.unkept = zerolog.DebugLevel
		m.log.Warn().Err(err).Msg(
			"nothing can be kept: the data folder cannot be written. Tools that keep data are off, and toolrun does not find this server; --data names another folder")
	}
}

// kept returns the path of a file in the data folder, or "" if the folder cannot be written.
func (m *Main) kept(name string) string {
	if m.unkept == zerolog.DebugLevel {
		return ""
	}
	return filepath.Join(m.Config.Data, name)
}

// announce logs the addresses of the server and its page, and which settings it has read. The
// models of each server are logged when that server has answered (see watch). Keys are only
// counted.
func (m *Main) announce(s settings) {
	base := "http://" + reachable(m.server.listener.Addr())
	line := m.log.Info().Str("url", base+"/v1").Str("version", version.String())
	if len(s.keys) > 0 {
		line = line.Int("api_keys", len(s.keys))
	}
	if s.tokens != nil {
		line = line.Bool("jwt", true)
	}
	line.Msg("serving")
	m.log.Info().Str("url", base+admin.Paths).Msg(
		"open this page in a browser to try a model and to see requests; point a client at the address above")
	m.warnOfSets(s)
	line = m.log.Info()
	if m.toolbox.Sampled() {
		line = line.Str("tools", "of a sample company, until you add your own (--sample)")
	}
	if m.given.file != nil {
		line.Str("file", m.given.file.path).Msg("settings were read")
		return
	}
	line.Str("file", home.File()).Msg("no settings file; settings can go here")
}

// watchServers starts a watch on every model server of the settings, which ends with ctx. It also
// checks the aliases, and warns of pools whose servers differ.
func (m *Main) watchServers(ctx context.Context, s settings, eng *engine.Engine) {
	count := func(name string) func(context.Context) int {
		return func(ctx context.Context) (n int) {
			all, _ := eng.Models(ctx) // servers that cannot be reached are left out
			checkAliases(m.log, m.Config.Alias, eng, name, all)
			for _, info := range all {
				if eng.Plan(info.ID).Server == name && info.Owner != "toolnorm" {
					n++
				}
			}
			return n
		}
	}
	m.beside.Go(ctx, func(ctx context.Context) {
		all, _ := eng.Models(ctx) // the demo's models are always there
		checkAliases(m.log, m.Config.Alias, eng, "demo", all)
	})
	for base := range strings.SplitSeq(s.ollama, ",") {
		m.beside.Go(ctx, func(ctx context.Context) {
			watch(ctx, m.log, "ollama", base, base+"/api/version", count("ollama"))
		})
	}
	for _, u := range s.upstreams {
		_, bases, _ := upstream.ParseURLs(u.URL) // resolve has read it without an error
		for _, base := range bases {
			m.beside.Go(ctx, func(ctx context.Context) {
				watch(ctx, m.log, u.Name, base, base, count(u.Name))
			})
		}
	}
	if strings.Contains(s.ollama, ",") ||
		slices.ContainsFunc(s.upstreams, func(u engine.Upstream) bool {
			return strings.Contains(u.URL, ",")
		}) {
		m.beside.Go(ctx, func(ctx context.Context) { tellUnlike(ctx, m.log, eng) })
	}
}

// tellUnlike logs a warning if the servers of a pool have different builds of a model under one
// name. A conversation that moves to another server of the pool would then get another model.
func tellUnlike(ctx context.Context, log zerolog.Logger, eng *engine.Engine) {
	ctx, cancel := context.WithTimeout(ctx, unlikeWait)
	defer cancel()
	for _, s := range eng.States(ctx) {
		if len(s.Unlike) > 0 {
			log.Warn().Str("server", s.Name).Str("at", s.At).Strs("models", s.Unlike).Msg(
				"another server of the pool has other builds of these models: pull them on each")
		}
	}
}

// unlikeWait is how long the servers of a pool may take to list their models.
const unlikeWait = 10 * time.Second

// checkAliases logs a warning for each alias whose model the server does not have. The argument
// models lists what the servers have. Alias patterns are not checked, because they match names that
// may never be asked for. A suffix of the target is ignored, since it is not a part of the model's
// name.
func checkAliases(log zerolog.Logger, aliases map[string]string, eng *engine.Engine, server string,
	models []chat.Info) {
	for _, name := range slices.Sorted(maps.Keys(aliases)) {
		target := aliases[name]
		_, model, _ := form.NamedForm(nil, target)
		model = strings.TrimSuffix(model, agent.Suffix)
		if strings.Contains(name, "*") || model == "" ||
			strings.HasPrefix(model, agent.BasePrefix) || eng.Plan(model).Server != server {
			continue
		}
		if !slices.ContainsFunc(models, func(i chat.Info) bool {
			return i.ID == model || i.ID == model+":latest"
		}) {
			log.Warn().Str("alias", name).Str("model", target).Msg(
				"the server has no such model; a suffix may be " + strings.Join(suffixes(), ", "))
		}
	}
}

// suffixes returns the suffixes that a model's name may have, such as "@shell".
func suffixes() []string {
	all := []string{agent.Suffix}
	for _, name := range form.Names() {
		if name != form.OpenAI {
			all = append(all, "@"+name)
		}
	}
	return all
}

// checkSuffixes returns an error if one of the listed suffixes is unknown.
func checkSuffixes(listed []string) error {
	for _, s := range listed {
		if !slices.Contains(suffixes(), "@"+strings.TrimPrefix(s, "@")) {
			return fmt.Errorf("list-suffixes: there is no suffix %q; there are %s", s,
				strings.Join(suffixes(), ", "))
		}
	}
	return nil
}

// retry is the interval at which a server that does not answer is asked again.
const retry = 3 * time.Second

// watch logs whether a model server answers, and if not, when it comes up. It ends with the
// server's first answer, or with ctx; if the server fails later, the requests report that. No
// request waits for watch, because each asks the server itself.
func watch(ctx context.Context, log zerolog.Logger, name, base, url string,
	count func(context.Context) int) {
	log = log.With().Str("server", name).Str("at", base).Logger()
	came := "the model server is up"
	for tries := 0; !answers(ctx, url); tries++ {
		if tries == 0 && ctx.Err() == nil {
			log.Warn().Msg(
				"the model server does not answer; retrying. The demo models work without it (demo/hermes)")
		}
		if !sleep.For(ctx, retry) {
			return
		}
		came = "the model server is up now"
	}
	log.Info().Int("models", count(ctx)).Msg(came)
}

// answers reports whether a model server is running. A 404 or 401 comes from a running server, and
// some servers answer 501 for an unknown path. Other statuses from 500 on may come from a gateway
// whose server is down, so answers returns false for them.
func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	// so that the connection can be used again
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10))
	return resp.StatusCode < http.StatusInternalServerError ||
		resp.StatusCode == http.StatusNotImplemented
}
