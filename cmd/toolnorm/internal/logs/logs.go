// Package logs makes the log of the program: lines of JSON for programs, or arranged for people.
package logs

import (
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"
)

// ForPrograms returns a log whose lines are JSON.
func ForPrograms(w io.Writer, level *Level) zerolog.Logger {
	return zerolog.New(w).Level(zerolog.DebugLevel).Sample(level).With().Timestamp().Logger()
}

// ForPeople returns a log whose lines are easy to read in a terminal.
func ForPeople(w io.Writer, level *Level, coloured bool) zerolog.Logger {
	return ForPrograms(zerolog.ConsoleWriter{Out: w, NoColor: !coloured, TimeFormat: time.TimeOnly,
		FormatPrepare: readable, FormatMessage: align(!coloured)}, level)
}

// Level drops log lines below a level that may change while the program runs. Every part of the
// program has a copy of the log, and the level of a copy cannot be changed later, so Level is a
// sampler. A sampler is asked before a line's fields are written, so a dropped line costs just as
// little.
type Level struct{ least atomic.Int32 }

// Set changes the lowest level that is logged from now on. An unknown name means info.
func (l *Level) Set(name string) {
	least, err := zerolog.ParseLevel(name)
	if err != nil {
		least = zerolog.InfoLevel
	}
	l.least.Store(int32(least))
}

// Sample implements zerolog.Sampler: it reports whether a line of this level is logged.
func (l *Level) Sample(of zerolog.Level) bool { return int32(of) >= l.least.Load() }

// messageWidth is the least width of a printed message. Shorter messages are padded, so that the
// fields after them are aligned.
const messageWidth = 36

// align returns a formatter that pads messages to messageWidth, and makes them bold unless plain is
// set.
func align(plain bool) zerolog.Formatter {
	return func(message any) string {
		text, _ := message.(string) // nil: a line without a message
		padding := strings.Repeat(" ", max(0, messageWidth-utf8.RuneCountInString(text)))
		if plain || text == "" {
			return text + padding
		}
		return "\x1b[1m" + text + "\x1b[0m" + padding
	}
}

// readable changes the fields of a line for people. Empty fields are left out, since "principal="
// looks like an error. The line of a request gets one message with what matters most: model,
// status, times and sizes. It always returns nil.
func readable(fields map[string]any) error {
	maps.DeleteFunc(fields, func(_ string, value any) bool {
		list, isList := value.([]any)
		return value == "" || value == nil || isList && len(list) == 0
	})
	total, isRequest := fields["total_ms"]
	if _, ok := fields["ttft_ms"]; !ok || !isRequest {
		return nil
	}
	parts := []string{text(fields["message"])}
	for _, key := range []string{"model", "status"} {
		if fields[key] != nil {
			parts = append(parts, text(fields[key]))
		}
	}
	took := milliseconds(total)
	if first := milliseconds(fields["ttft_ms"]); first != "0 ms" {
		took += " (first " + first + ")"
	}
	parts = append(parts, took)
	if prompt, written := text(fields["prompt_tokens"]),
		text(fields["completion_tokens"]); prompt != "0" || written != "0" {
		parts = append(parts, prompt+"+"+written+" tokens")
	}
	if calls := text(fields["calls"]); calls == "1" {
		parts = append(parts, "1 call")
	} else if calls != "0" && calls != "" {
		parts = append(parts, calls+" calls")
	}
	if how := strings.Trim(text(fields["format"])+"/"+text(fields["strategy"]), "/"); how != "" {
		parts = append(parts, how)
	}
	fields["message"] = strings.Join(parts, "  ")
	for _, key := range []string{"model", "status", "total_ms", "ttft_ms", "prompt_tokens",
		"completion_tokens", "calls", "format", "strategy", "bytes", "stream"} {
		delete(fields, key)
	}
	return nil
}

// text returns a field's value as it is printed, or "" for nil.
func text(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// milliseconds returns a number of milliseconds as people write it, for example "185 ms" or "2.4
// s". It returns "0 ms" for anything that is no number.
func milliseconds(value any) string {
	ms, err := strconv.ParseFloat(text(value), 64)
	switch {
	case err != nil:
		return "0 ms"
	case ms >= 10_000:
		return fmt.Sprintf("%.0f s", ms/1000)
	case ms >= 1000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
