package remote

import (
	"errors"
	"os"

	"toolnorm/internal/sleep"
)

// stampOf returns the stamp of the file at path, or the zero stamp if it cannot be found.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// watch reads the file again after another program has changed it, such as an editor or another
// toolnorm. When the file of sign-ins changes, it retries servers that are not connected. It runs
// until the Set is closed.
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

// reread reads the file again and uses it. If the file is broken or missing, the servers stay as
// they are, since people save in the middle of an edit; that is logged once. The caller holds s.mu.
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
