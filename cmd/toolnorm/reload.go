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

	"toolnorm/internal/home"
	"toolnorm/internal/sleep"
)

// needsRestart says that a running server cannot change a setting: what it has opened, bound or keeps by it outlives its requests. All
// others are read by newFace, which is made anew. Ollama's address is among these since knowledge bases have it as well. MCP clients keep
// client-timeout and heartbeat as they were at the start.
func needsRestart(setting *kong.Flag) bool { return setting.Tag.Has("restart") }

// reload is what reading the settings again needs.
type reload struct {
	args []string        // of the command line, which go on to win over the file
	life context.Context // of what runs beside the server

	mu     sync.Mutex
	seen   stamps // of the files when they were read last
	moving stamps // of files that were changed since the last look: they may still be written
}

// stamps tell whether files have changed: by the name of the setting that names the file, its time and size.
type stamps map[string]string

// lookTime is how often the files are looked at. A look is a handful of stats; file events differ by system, and miss files that are
// replaced.
const lookTime = time.Second

// Reload reads the settings again and has them in force for requests that come from now on. When one is wrong, nothing changes. What
// was done, or what is wrong, is one line of the log.
func (m *Main) Reload() error {
	m.reload.mu.Lock()
	defer m.reload.mu.Unlock()
	return m.readAgain()
}

// readAgain is Reload. The lock is held.
func (m *Main) readAgain() error {
	before := m.reload.seen
	m.reload.seen = m.stamps() // first: a change while it is read is then seen as one
	next, later, changed, err := m.changes()
	var f *face
	if err == nil {
		f, err = m.faceOf(next, before["families"] == m.reload.seen["families"])
	}
	if err != nil {
		err = next.located(err)
		m.log.Error().Err(err).Msg("the settings were not read again; those in force stay")
		return err
	}
	for name, stamp := range m.reload.seen {
		if before[name] != stamp && name != "config" && !slices.Contains(changed, name) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	m.given = next
	m.setLevel(f.config.LogLevel)
	sayOdd(m.log, f.settings)
	m.show(m.reload.life, f)
	m.sayRead(changed, later)
	return nil
}

// sayRead logs what reading the settings again has changed, and what it could not.
func (m *Main) sayRead(changed, later []string) {
	line := m.log.Info()
	if m.given.file != nil {
		line = line.Str("file", m.given.file.path)
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

// changes reads the settings as at a start, and sorts what differs from those in force: changed is in next, later is not and keeps its
// old value there.
func (m *Main) changes() (next given, later, changed []string, err error) {
	fresh := NewMain(io.Discard, io.Discard)
	if err := fresh.ParseFlags(m.reload.args); err != nil {
		return fresh.given, nil, nil, err
	}
	next = fresh.given
	// An editor that replaces a file, or a disk that is not mounted, must not take the keys of a server away.
	if old := m.given.file; old != nil && next.file == nil {
		return next, nil, nil, fmt.Errorf("%s is gone", old.path)
	}
	for i, flag := range next.flags {
		old := m.given.flags[i].Target
		switch {
		case reflect.DeepEqual(flag.Target.Interface(), old.Interface()):
		case needsRestart(flag):
			later = append(later, flag.Name)
			flag.Target.Set(old)
		default:
			changed = append(changed, flag.Name)
		}
	}
	if !reflect.DeepEqual(next.config.Upstreams, m.given.config.Upstreams) {
		changed = append(changed, "upstreams")
	}
	return next, later, changed, nil
}

// faceOf makes the face of settings. sameFamilies keeps the formats that are in force, and with them the engine, if nothing else of its
// settings has changed.
func (m *Main) faceOf(next given, sameFamilies bool) (*face, error) {
	config, old := *next.config, m.now.Load()
	s, err := config.resolve()
	if err != nil {
		return nil, err
	}
	if sameFamilies || s.oddFamilies { // a file that somebody edits must not take its family away
		s.formats = old.settings.formats
		for model, name := range s.unread {
			if s.formats.Named(name) != nil {
				config.Format[model] = name
			}
		}
	}
	f := m.newFace(config, s, old)
	return f, m.mayListen(f)
}

// followSettings looks after the files of the settings until ctx ends.
func (m *Main) followSettings(ctx context.Context) {
	m.reload.life, m.reload.seen = ctx, m.stamps()
	m.beside.Go(ctx, func(ctx context.Context) {
		for sleep.For(ctx, lookTime) {
			m.look()
		}
	})
}

// look reads the settings again when one of their files has changed, and has stayed as it is since the last look: an editor may have
// written only half of it, and half a file of keys is a valid one.
func (m *Main) look() {
	m.reload.mu.Lock()
	defer m.reload.mu.Unlock()
	now := m.stamps()
	switch {
	case maps.Equal(now, m.reload.seen):
		m.reload.moving = nil
	case maps.Equal(now, m.reload.moving):
		_ = m.readAgain() // it is in the log
	default:
		m.reload.moving = now
	}
}

// stamps are those of the files that the settings in force name.
func (m *Main) stamps() stamps {
	c := m.now.Load().config
	path := c.Config
	if m.given.file != nil {
		path = m.given.file.path
	}
	all := stamps{"config": stampOf(cmp.Or(path, home.File()))}
	files := map[string]string{"api-keys-file": c.APIKeysFile, "admin-key-file": c.AdminKeyFile, "jwt-secret-file": c.JWTSecretFile}
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

// stampOf is the time and the size of a file; empty when there is none.
func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), ";")
}
