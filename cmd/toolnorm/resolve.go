package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/engine"
	"toolnorm/engine/ollama"
	"toolnorm/internal/auth"
	"toolnorm/internal/home"
	"toolnorm/internal/limit"
)

// settings holds the values that are derived from Config. Config itself stays as the user wrote it,
// so that it can be shown.
type settings struct {
	ollama    string // base URLs with commas between them
	upstreams []engine.Upstream
	hold      int
	which     adapters.Which
	formats   *adapters.Set
	keys      auth.Keys
	adminKeys auth.Keys
	scrapers  auth.Keys
	limits    *limit.Rules
	tokens    *auth.Tokens // nil: no JWTs
	sets      auth.Sets    // which sets of tools each caller may use; nil: all
	rights    auth.Rights  // what each caller may do; nil: the setting is empty

	odd         []error // errors of keys and families that cannot be used and were left out
	oddFamilies bool    // whether some of these are of families

	// entries of the setting format whose family could not be read
	unread map[string]string
}

// maxTrace is the most exchanges that may be kept in memory. With prompts and replies they take up
// to 256 MiB.
const maxTrace = 1000

// maxUsageDays is the most days for which usage may be recorded, ten years.
const maxUsageDays = 3650

// readGates checks the setting ask-before-tools, which says when models are asked whether they need
// a tool. It replaces true and false, the former values of the setting, by the present ones. It
// returns an error for any other value.
func (c *Config) readGates() error {
	for model, when := range c.AskBeforeTools {
		switch when {
		case "true":
			c.AskBeforeTools[model] = engine.GateAlways
		case "false":
			c.AskBeforeTools[model] = engine.GateNever
		case engine.GateAlways, engine.GateNever, engine.GateAuto:
		default:
			return fmt.Errorf("ask-before-tools: %s must be always, auto or never, not %q", model,
				when)
		}
	}
	return nil
}

// resolve checks the settings that have rules, fills in the data folder, and returns what follows
// from the settings. It finds every wrong setting before the server listens. Its error begins with
// the name of the setting.
func (c *Config) resolve() (s settings, err error) {
	if err := checkListen(c.Listen); err != nil {
		return s, err
	}
	bases, err := ollama.ParseHosts(c.Ollama)
	if err != nil {
		return s, fmt.Errorf("ollama: %w", err)
	}
	s.ollama = strings.Join(bases, ",")
	if s.hold, err = adapters.ParseHold(c.CallBuffer); err != nil {
		return s, fmt.Errorf("call-buffer: %w", err)
	}
	if c.CallBuffer == "short" {
		s.hold = adapters.HoldShort // which the engine shortens for slow models
	}
	if err := c.readGates(); err != nil {
		return s, err
	}
	if s.which, err = adapters.ParseWhich(c.Calls); err != nil {
		return s, fmt.Errorf("calls: %w", err)
	}
	if err := c.checkNumbers(); err != nil {
		return s, err
	}
	if c.Data, err = home.Data(c.Data); err == nil {
		err = cmp.Or(checkFolder(c.Data), checkStore(c.Store), checkSuffixes(c.ListSuffixes),
			c.histories.check())
	}
	if err != nil {
		return s, err
	}
	s.formats, s.odd = command.FormatsIn(filepath.Join(c.Data, "families"))
	s.oddFamilies = len(s.odd) > 0
	c.withoutFormats(&s)
	if err = c.readAccess(&s); err != nil {
		return s, err
	}
	if err := c.checkForms(); err != nil {
		return s, err
	}
	if s.upstreams, err = c.upstreams(os.LookupEnv); err != nil {
		return s, err
	}
	return s, c.engine(s, zerolog.Nop()).Validate()
}

// checkNumbers returns an error for a number that is out of its bounds.
func (c *Config) checkNumbers() error {
	for name, n := range map[string]int64{
		"max-body": c.MaxBody, "max-bodies": c.MaxBodies, "body-timeout": int64(c.BodyTimeout),
		"client-timeout": int64(c.ClientTimeout), "load-timeout": int64(c.LoadTimeout),
		"first-byte-timeout": int64(c.FirstByteTimeout), "idle-timeout": int64(c.IdleTimeout),
		"heartbeat": int64(c.Heartbeat), "queue": int64(c.Queue) + 1,
		"max-repeat": int64(c.MaxRepeat) + 1, "max-same-calls": int64(c.MaxSameCalls) + 1,
		"queue-wait": int64(c.QueueWait), "mcp-timeout": int64(c.MCPTimeout),
		"agent-time": int64(c.AgentTime), "agent-tokens": int64(c.AgentTokens),
		"agent-tool-tokens": int64(c.AgentToolTokens), "agent-rpm": int64(c.AgentRPM) + 1,
		"agent-at-once": int64(c.AgentAtOnce) + 1, "agent-queue": int64(c.AgentQueue),
		"grace": int64(c.Grace) + 1,
	} {
		if n <= 0 {
			return fmt.Errorf("%s: must be more than 0", name)
		}
	}
	if c.UsageDays < 0 || c.UsageDays > maxUsageDays {
		return fmt.Errorf("usage-days: must be 0 to %d", maxUsageDays)
	}
	if c.Trace < 0 || c.Trace > maxTrace {
		return fmt.Errorf("trace: must be 0 to %d", maxTrace)
	}
	return nil
}
