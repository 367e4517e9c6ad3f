package main

import (
	"maps"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// newLog makes the log that the settings ask for.
// kong has checked the level; an unknown one, of a test, is info.
func (m *Main) newLog() zerolog.Logger {
	level, err := zerolog.ParseLevel(m.Config.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	w := m.stderr
	if m.Config.LogFormat == "text" || m.Config.LogFormat == "auto" && m.onTerminal() {
		plain := !m.onTerminal() || os.Getenv("NO_COLOR") != ""
		w = zerolog.ConsoleWriter{Out: w, NoColor: plain, TimeFormat: time.TimeOnly, FormatPrepare: leaveOutEmpty}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

// leaveOutEmpty takes the fields without a value out of a line for people, who would read principal= as an error.
func leaveOutEmpty(fields map[string]any) error {
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == "" || value == nil })
	return nil
}
