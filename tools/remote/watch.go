package remote

import (
	"errors"
	"os"

	"toolnorm/internal/sleep"
)

// stampOf returns the file's stamp, or the zero stamp if there is no file.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// watch picks up changes that others make to the file: an editor, or another toolnorm on the same
// folder.
func (s *Set) watch() {
	accounts := stampOf(s.cfg.Accounts)
	for sleep.For(s.ctx, watchTime) {
		s.mu.Lock()
		if now := stampOf(s.cfg.Accounts); now != accounts { // the user has signed in
			accounts = now
			for _, l := range s.links {
				l.retry()
			}
		}
		if stampOf(s.cfg.Path) != s.stamp {
			s.reread()
		}
		s.mu.Unlock()
	}
}

// reread reads the file again. A broken file changes nothing, since people save in the middle of an
// edit; it is logged once. The caller holds s.mu.
func (s *Set) reread() {
	s.stamp = stampOf(s.cfg.Path)
	var f *file
	// A file that is gone for a moment, as while an editor replaces it, must not end all
	// connections.
	err := errors.New("mcp.json is gone")
	if s.stamp != (stamp{}) {
		f, err = load(s.cfg.Path)
	}
	if s.broken = err; err != nil {
		s.cfg.Log.Error().Err(err).Msg(
			"mcp.json has changed and cannot be read; the servers stay as they were")
		return
	}
	s.take(f)
	s.cfg.Log.Info().Msgf("Loaded %d MCP servers from mcp.json", len(s.links))
}
