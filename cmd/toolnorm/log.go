package main

import (
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"
)

// newLog makes the log that the settings ask for.
// kong has checked the level; an unknown one, of a test, is info.
func (m *Main) newLog() zerolog.Logger {
	m.level.set(m.Config.LogLevel)
	w := m.Err
	if m.Config.LogFormat == "text" || m.Config.LogFormat == "auto" && m.OnTerminal() {
		plain := !m.OnTerminal() || os.Getenv("NO_COLOR") != ""
		w = zerolog.ConsoleWriter{Out: w, NoColor: plain, TimeFormat: time.TimeOnly, FormatPrepare: leaveOutEmpty, FormatMessage: aligned(plain)}
	}
	return zerolog.New(w).Level(zerolog.DebugLevel).Sample(&m.level).With().Timestamp().Logger()
}

// level drops lines below a level that may change. Every part holds a copy of the log, whose own
// level no later one changes; a sampler is asked before a line's fields are written, so that lines
// which are dropped cost as little.
type level struct{ least atomic.Int32 }

// set has the log say more or less from now on.
func (l *level) set(name string) {
	least, err := zerolog.ParseLevel(name)
	if err != nil {
		least = zerolog.InfoLevel
	}
	l.least.Store(int32(least))
}

// Sample implements zerolog.Sampler.
func (l *level) Sample(of zerolog.Level) bool { return int32(of) >= l.least.Load() }

// messageWidth is how wide a message is printed at least, so that the fields of short ones stand under each other.
const messageWidth = 36

// aligned pads messages; on a terminal that shows colours they are bold.
func aligned(plain bool) zerolog.Formatter {
	return func(message any) string {
		text, _ := message.(string) // nil: a line without one
		padding := strings.Repeat(" ", max(0, messageWidth-utf8.RuneCountInString(text)))
		if plain || text == "" {
			return text + padding
		}
		return "\x1b[1m" + text + "\x1b[0m" + padding
	}
}

// leaveOutEmpty takes the fields without a value out of a line for people, who would read principal= as an error.
func leaveOutEmpty(fields map[string]any) error {
	maps.DeleteFunc(fields, func(_ string, value any) bool {
		list, isList := value.([]any)
		return value == "" || value == nil || isList && len(list) == 0
	})
	return nil
}
