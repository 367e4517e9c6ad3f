package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"
	"github.com/rs/zerolog"

	"toolnorm/internal/home"
	"toolnorm/internal/sleep"
)

// needsRestart reports whether a setting takes effect only after a restart, because the server has
// opened files, ports or data by it. All others take effect when the settings are read again.
// Ollama's address needs a restart since knowledge bases use it as well. MCP clients keep the
// client-timeout and the heartbeat of the start.
func needsRestart(setting *kong.Flag) bool { return setting.Tag.Has("restart") }

// inForce is a program whose settings can be read again.
type inForce interface {
	// settings returns the settings in force, and where they came from.
	settings() (given, *Config)
	// use applies new settings to requests that come from now on, or returns an error if they are
	// wrong. sameFamilies is true if the files of families have not changed.
	use(ctx context.Context, next given, sameFamilies bool) error
}

// reload reads the settings again, on request and whenever their files change.
type reload struct {
	args []string        // of the command line, which has precedence over the file
	life context.Context // of the goroutines beside the server
	of   inForce
	log  zerolog.Logger

	mu     sync.Mutex
	seen   stamps // of the files at the last reading
	moving stamps // of files that have changed since the last look, and may still be written
}

// stamps show whether files have changed. The key is the name of the setting that names a file; the
// value contains the file's time and size.
type stamps map[string]string

// lookTime is how often the files are checked. A check takes a handful of stat calls. File events
// would differ by system, and would miss files that are replaced.
const lookTime = time.Second

// Reload reads the settings again and applies them to requests that come from now on. If a setting
// is wrong, nothing changes and Reload returns an error. Either outcome is logged in one line.
func (m *Main) Reload() error {
	m.reload.mu.Lock()
	defer m.reload.mu.Unlock()
	return m.reload.read()
}

// settings implements inForce: it returns the settings in force, and where they came from.
func (m *Main) settings() (given, *Config) { return m.given, &m.now.Load().config }

// use implements inForce: it applies new settings to later requests, or returns an error if they
// are wrong. It keeps the engine if the settings of the engine are unchanged.
func (m *Main) use(ctx context.Context, next given, sameFamilies bool) error {
	config, old := *next.config, m.now.Load()
	s, err := config.resolve()
	if err != nil {
		return err
	}
	if sameFamilies || s.oddFamilies { // a file that is being edited must not remove its family
		s.formats = old.settings.formats
		for model, name := range s.unread {
			if s.formats.Named(name) != nil {
				config.Format[model] = name
			}
		}
	}
	f := m.newFace(config, s, old)
	if err := m.mayListen(f); err != nil {
		return err
	}
	m.given = next
	m.level.Set(config.LogLevel)
	sayOdd(m.log, s)
	m.show(ctx, f)
	return nil
}

// follow checks the files of the settings until ctx ends.
func (r *reload) follow(ctx context.Context, m *Main, beside *sleep.Group) {
	r.life, r.of, r.log = ctx, m, m.log
	r.seen = r.stamps()
	beside.Go(ctx, func(ctx context.Context) {
		for sleep.For(ctx, lookTime) {
			r.look()
		}
	})
}

// look reads the settings again if one of their files has changed, but only when the files have
// stayed the same from one look to the next. Otherwise an editor may have written only half of a
// file, and half a file of keys would be valid.
func (r *reload) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.stamps()
	switch {
	case maps.Equal(now, r.seen):
		r.moving = nil
	case maps.Equal(now, r.moving):
		_ = r.read() // it is in the log
	default:
		r.moving = now
	}
}

// read reads the settings again. If they are wrong, it logs and returns the error, and nothing
// changes. The lock must be held.
func (r *reload) read() error {
	before := r.seen
	r.seen = r.stamps() // before reading, so that a change in the meantime is noticed
	next, later, changed, err := r.changes()
	if err == nil {
		err = r.of.use(r.life, next, before["families"] == r.seen["families"])
	}
	if err != nil {
		err = next.located(err)
		r.log.Error().Err(err).Msg("the settings could not be reloaded; the old ones stay in force")
		return err
	}
	for name, stamp := range r.seen {
		if before[name] != stamp && name != "config" && !slices.Contains(changed, name) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	r.say(next, changed, later)
	return nil
}

// say logs what has changed by reading the settings again, and what will only change by a restart.
func (r *reload) say(now given, changed, later []string) {
	line := r.log.Info()
	if now.file != nil {
		line = line.Str("file", now.file.path)
	}
	if len(later) > 0 {
		line = line.Strs("needs_restart", later)
	}
	if len(changed) == 0 {
		line.Msg("settings were read again; nothing else has changed")
		return
	}
	line.Strs("changed", changed).Msg("settings were read again")
}

// changes reads the settings as a start would, and compares them with the settings in force. It
// returns the next settings, and the names of those that differ: the ones in changed have their new
// value in next, the ones in later keep the old value until a restart. It returns an error if the
// settings are wrong or their file is gone.
func (r *reload) changes() (next given, later, changed []string, err error) {
	old, _ := r.of.settings()
	fresh := NewMain(io.Discard, io.Discard)
	if err := fresh.ParseFlags(r.args); err != nil {
		return fresh.given, nil, nil, err
	}
	next = fresh.given
	// An editor that replaces a file, or a disk that is not mounted, must not remove the keys of a
	// server.
	if old.file != nil && next.file == nil {
		return next, nil, nil, fmt.Errorf("%s is gone", old.file.path)
	}
	for i, flag := range next.flags {
		before := old.flags[i].Target
		switch {
		case reflect.DeepEqual(flag.Target.Interface(), before.Interface()):
		case needsRestart(flag):
			later = append(later, flag.Name)
			flag.Target.Set(before)
		default:
			changed = append(changed, flag.Name)
		}
	}
	if !reflect.DeepEqual(next.config.Upstreams, old.config.Upstreams) {
		changed = append(changed, "upstreams")
	}
	return next, later, changed, nil
}

// stamps returns the time and size of each file that the settings in force name, and of the user's
// own files of formats.
func (r *reload) stamps() stamps {
	from, c := r.of.settings()
	path := c.Config
	if from.file != nil {
		path = from.file.path
	}
	all := stamps{"config": stampOf(cmp.Or(path, home.File()))}
	files := map[string]string{"api-keys-file": c.APIKeysFile, "admin-key-file": c.AdminKeyFile,
		"jwt-secret-file": c.JWTSecretFile}
	if !strings.Contains(c.JWTKeys, "://") {
		files["jwt-keys"] = c.JWTKeys
	}
	for name, path := range files {
		if path != "" {
			all[name] = stampOf(path)
		}
	}
	// Glob fails only for a pattern that is wrong.
	families, _ := filepath.Glob(filepath.Join(c.Data, "families", "*.txt"))
	for _, path := range families {
		all["families"] += path + stampOf(path)
	}
	return all
}

// stampOf returns the time and the size of a file, or "" if there is no such file.
func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), ";")
}
