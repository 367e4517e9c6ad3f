package main

import (
	"io"
	"time"

	"github.com/rs/zerolog"
)

// newLog makes the log that the settings ask for. Colours are for terminals that read it, so there are none.
// kong has checked the level; an unknown one, of a test, is info.
func newLog(w io.Writer, c Config) zerolog.Logger {
	level, err := zerolog.ParseLevel(c.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	if c.LogFormat == "text" {
		w = zerolog.ConsoleWriter{Out: w, NoColor: true, TimeFormat: time.DateTime}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}
