package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"toolnorm/internal/history"
	"toolnorm/internal/trace"
	"toolnorm/internal/usage"
)

// histories has the settings that say which requests are recorded in the database, so that they
// survive a restart.
type histories struct {
	History      int    `default:"10000" restart:"yes" help:"How many requests to keep in the database for the page Live: times, models, calls, errors and repairs. It is history.db in the folder of data, or the PostgreSQL of store. 0: none; trace 0 turns it off, too."`
	HistoryDays  int    `default:"14" restart:"yes" help:"After how many days they are deleted."`
	HistoryMB    int64  `name:"history-mb" default:"256" restart:"yes" help:"How large they may be together, in megabytes; the oldest are deleted first."`
	HistoryTexts string `default:"none" enum:"none,failed,all" restart:"yes" help:"Which prompts and replies to keep there: none, failed (of requests that failed or were repaired), or all (needs no trace-bodies)."`
}

// usages has the setting that says for how long the usage of each caller is recorded.
type usages struct {
	UsageDays int `name:"usage-days" default:"90" restart:"yes" help:"For how many days to keep how many requests, calls and tokens each caller had of each model; 0: none. It is in the database of history."`
}

// check returns an error for a limit that is out of range.
func (h *histories) check() error {
	if h.History < 0 || h.History > 1_000_000 {
		return errors.New("history: must be 0 to 1000000")
	}
	if h.HistoryDays < 1 || h.HistoryDays > 3650 {
		return errors.New("history-days: must be 1 to 3650")
	}
	if h.HistoryMB < 1 || h.HistoryMB > 1<<20 {
		return errors.New("history-mb: must be 1 to 1048576")
	}
	return nil
}

// openHistory starts recording requests in the database, unless the settings say otherwise.
// Everything else works without it, so its errors are only warnings. The history has a file of its
// own, so that writing it does not delay the tools.
func (m *Main) openHistory() {
	c := &m.Config
	if m.trace == nil || c.History == 0 {
		return
	}
	where := c.historyAt()
	warn := func(err error) { m.log.WithLevel(m.unkept).Err(err).Msg("history of requests") }
	h := history.New(where, history.Config{Days: c.HistoryDays, Most: c.History,
		Bytes: c.HistoryMB << 20, Texts: c.HistoryTexts}, warn)
	if c.HistoryTexts != history.NoTexts {
		m.log.Warn().Str("texts", c.HistoryTexts).Int("days", c.HistoryDays).Msg(
			"--history-texts: prompts and replies are written to the database")
	}
	m.history = h
	m.trace.KeepIn(h)
	m.writes.Go(context.Background(), h.Run)
}

// historyAt returns the database for requests and usage: a path, or the URL of PostgreSQL.
func (c *Config) historyAt() string {
	where := cmp.Or(c.Store, filepath.Join(c.Data, "db", "mcp_data.db"))
	if !strings.HasPrefix(where, "postgres") {
		where = filepath.Join(filepath.Dir(where), "history.db")
	}
	return where
}

// openUsage starts counting each caller's usage by day, unless the setting usage-days is 0.
func (m *Main) openUsage() {
	if m.Config.UsageDays == 0 {
		return
	}
	m.usage = usage.New(usage.Config{
		Where: m.Config.historyAt(), Days: m.Config.UsageDays, Named: m.metrics.Named,
		Asks: func(api string) bool { return trace.Operation(api) != "" },
		Warn: func(err error) { m.log.WithLevel(m.unkept).Err(err).Msg("usage") },
	})
	m.writes.Go(context.Background(), m.usage.Run)
}

// counters returns all parts that count requests and their answers: metrics, limits and, if they
// are wanted, usage and traces.
func (m *Main) counters() trace.Counters {
	all := trace.Counters{m.metrics, m.limiter}
	if m.usage != nil {
		all = append(all, m.usage)
	}
	if m.spans != nil {
		all = append(all, m.spans)
	}
	return all
}
