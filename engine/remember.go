package engine

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/internal/replace"
)

// Remember says where findings about models are stored across restarts. These are the wording in
// which models understand tools, what their templates say, and whether they call tools that they do
// not need. Finding them again takes some generations. The zero value stores nothing.
type Remember struct {
	File    string
	Program string // the program's version: another version may have other findings
}

const (
	// how long notes are valid; then everything is found out again, because a newer server may have
	// changed it
	rememberFor    = 7 * 24 * time.Hour
	mostRemembered = 500 // models
)

// notes has the stored findings about all models. A nil *notes is empty.
type notes struct {
	Remember
	log zerolog.Logger

	mu   sync.Mutex
	all  []note // the oldest first
	sick bool   // the last write failed
}

// note is the stored findings about one model.
type note struct {
	Server  string            `json:"server"`
	Model   string            `json:"model"`
	Digest  string            `json:"digest"`
	Since   time.Time         `json:"since"`
	Wording *adapters.Wording `json:"wording,omitempty"`
	Gate    gate              `json:"gate,omitempty"`
	Reading *readingNote      `json:"reading,omitempty"`
}

// readingNote is the stored form of a reading, which is what a model's template shows about the way
// in which the model writes. The format in it is that of a known model family, or one that was
// derived from a template. The latter is stored as its declaration.
type readingNote struct {
	Family string `json:"family,omitempty"`
	Lines  string `json:"lines,omitempty"`
	Says   string `json:"says,omitempty"`
	Unread bool   `json:"unread,omitempty"`
}

// noteFile is the content of the file in which findings about models are stored.
type noteFile struct {
	Program string `json:"program"`
	Models  []note `json:"models"`
}

// open reads the file, and returns its notes, or nil if no file is configured. If the file cannot
// be read, or another version of this program has written it, the notes are empty.
func (r Remember) open(log zerolog.Logger) *notes {
	if r.File == "" {
		return nil
	}
	n := &notes{Remember: r, log: log}
	text, err := os.ReadFile(r.File)
	if errors.Is(err, fs.ErrNotExist) {
		return n
	}
	var f noteFile
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		log.Warn().Err(err).Str("file", r.File).Msg(
			"what was known of models cannot be read, and is found out again")
	}
	if f.Program == r.Program {
		n.all = slices.DeleteFunc(f.Models, func(one note) bool {
			return time.Since(one.Since) > rememberFor
		})
	}
	return n
}

// same reports whether two notes are about the same model.
func (n *note) same(other note) bool {
	return n.Server == other.Server && n.Model == other.Model && n.Digest == other.Digest
}

// find returns the stored findings about a model, in the form in which they are kept in memory
// (lessons). It returns false if there are none.
func (n *notes) find(server, model, digest string, formats *adapters.Set) (l lessons, ok bool) {
	if n == nil || digest == "" {
		return l, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	at := slices.IndexFunc(n.all, func(one note) bool {
		return one.same(note{Server: server, Model: model, Digest: digest})
	})
	if at < 0 {
		return l, false
	}
	one := n.all[at]
	return lessons{wording: one.Wording, gate: one.Gate, reading: one.Reading.read(formats)}, true
}

// read returns the reading of a template that the note r stores, with its format. It returns nil if
// r is nil, or if the format no longer exists.
func (r *readingNote) read(formats *adapters.Set) *reading {
	if r == nil {
		return nil
	}
	out := &reading{says: r.Says, unread: r.Unread, lines: r.Lines}
	switch {
	case r.Family != "":
		if out.format = formats.Named(r.Family); out.format == nil {
			return nil
		}
	case r.Lines != "":
		format, err := formats.Parse([]byte(r.Lines))
		if err != nil {
			return nil
		}
		out.format = format
	}
	return out
}

// noteOf returns the part of the lessons about a model that is worth storing. It returns false if
// no part is.
func noteOf(l lessons, formats *adapters.Set) (one note, ok bool) {
	one = note{Wording: l.wording, Gate: l.gate}
	if r := l.reading; r != nil {
		one.Reading = &readingNote{Says: r.says, Unread: r.unread, Lines: r.lines}
		switch {
		case r.format == nil:
		case formats.Named(r.format.Name) == r.format:
			one.Reading.Family, one.Reading.Lines = r.format.Name, ""
		case r.lines == "":
			one.Reading = nil
		}
	}
	return one, one.Wording != nil || one.Gate != gateUnknown || one.Reading != nil
}

// keep stores the findings about a model. If the file cannot be written, that is logged once.
func (n *notes) keep(one note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	one.Since = time.Now()
	n.all = append(slices.DeleteFunc(n.all, func(old note) bool { return old.same(one) }), one)
	n.all = n.all[max(len(n.all)-mostRemembered, 0):]
	text, err := json.MarshalIndent(noteFile{n.Program, n.all}, "", " ")
	if err == nil {
		err = replace.File(n.File, text)
	}
	if err != nil && !n.sick {
		n.log.Warn().Err(err).Msg(
			"what was found out about models is forgotten with the next restart")
	}
	n.sick = err != nil
}
