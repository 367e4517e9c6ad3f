package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"toolnorm/internal/doctor"
)

// The exit statuses of the program, besides 0.
const (
	StatusFailed      = 1 // something is wrong, or went wrong
	StatusUsage       = 2 // the arguments or the settings are wrong
	StatusUnreachable = 3 // doctor: a model server cannot be reached
)

// Ended is an error with the exit status that it gives the program.
type Ended struct {
	error
	status int
}

// End wraps err so that the program ends with this exit status.
func End(err error, status int) error { return &Ended{err, status} }

// Wrong wraps err, an error in the arguments or the settings, so that the program ends with
// StatusUsage.
func Wrong(err error) error { return &Ended{err, StatusUsage} }

// Unwrap returns the wrapped error, for errors.Is and errors.As.
func (e *Ended) Unwrap() error { return e.error }

// StatusOf returns the exit status for err: that of an Ended in its chain, or StatusFailed.
func StatusOf(err error) int {
	var e *Ended
	if errors.As(err, &e) {
		return e.status
	}
	return StatusFailed
}

// Console is the set of streams of a command. Results are written to Out, and all other messages to
// Err.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
}

// printable returns text without characters that could control a terminal. Such texts come from
// files and databases. The authors of documents choose file names and titles, and any user who may
// make a knowledge base chooses its name.
func printable(text string) string { return strings.Map(doctor.Printable, text) }

// Progress prints that a step has begun. In a step that is a series of questions, the parameter n
// is the number of the current question, and of is the number of all questions. Otherwise both are
// 0. On a terminal the same line is overwritten again and again, and Clear removes it. Elsewhere
// each step gets one line, and a series of questions only one as well, since a log would otherwise
// fill with them.
func (m *Console) Progress(step string, n, of int) {
	switch {
	case m.OnTerminal() && of > 0:
		fmt.Fprintf(m.Err, "\r\x1b[K%s, question %d of %d …", step, n, of)
	case m.OnTerminal():
		fmt.Fprintf(m.Err, "\r\x1b[K%s …", step)
	case n <= 1:
		fmt.Fprintln(m.Err, step)
	}
}

// Clear removes the line that Progress left on a terminal.
func (m *Console) Clear() {
	if m.OnTerminal() {
		fmt.Fprint(m.Err, "\r\x1b[K")
	}
}

// OnTerminal reports whether stderr is a terminal that can move its cursor.
// Editors set TERM=dumb for terminals that show escape sequences as text.
func (m *Console) OnTerminal() bool {
	return isTerminal(m.Err) && strings.TrimSpace(os.Getenv("TERM")) != "dumb"
}

// isTerminal reports whether stream, one of a console's streams, is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// barWidth is how many characters a bar has.
const barWidth = 30

// job shows the progress of an import on standard error: one bar for all its files, with the
// remaining time. A file that is half done moves the bar by half of a file's share.
type job struct {
	console *Console
	unit    string // what a file consists of, such as passages
	start   time.Time
}

// begin returns a job, which shows the progress of an import. The parameter unit is the word, such
// as "documents", for the parts in which the progress of a file is counted.
func (m *Console) begin(unit string) *job { return &job{m, unit, time.Now()} }

// show prints the progress of an import. The parameter done is the number of finished parts of the
// current file, and all is the number of its parts. The parameter file is the number of the current
// file, counted from 1, and files is the number of all files. If the output is not a terminal, show
// prints a line only at the beginning and the end of a file, and for every tenth of a long one.
func (j *job) show(source string, file, files, done, all int) {
	source = printable(source)
	if !j.console.OnTerminal() {
		if tenth := max(1, all/10); done == 0 || done == all || done%tenth < embeddedAtOnce &&
			done/tenth != (done-embeddedAtOnce)/tenth {
			fmt.Fprintf(j.console.Err, "%s: %d of %d\n", source, done, all)
		}
		return
	}
	share := float64(file-1) / float64(max(files, 1))
	if all > 0 {
		share += float64(done) / float64(all) / float64(max(files, 1))
	}
	count := fmt.Sprintf("%d/%d", file-1, files)
	switch {
	case files == 1:
		count = fmt.Sprintf("%d/%d", done, all)
	case all > embeddedAtOnce:
		source += fmt.Sprintf(" (%d of %d %s)", done, all, j.unit)
	}
	filled := int(barWidth * share)
	line := fmt.Sprintf("[%s%s] %s%s %s", strings.Repeat("#", filled),
		strings.Repeat("-", barWidth-filled), count, remaining(time.Since(j.start), share), source)
	if most := widthOf(j.console.Err); most > 0 {
		line = cut(line, most-1)
	}
	fmt.Fprint(j.console.Err, "\r\x1b[K", line)
}

// remaining returns an estimate of how long the rest of the work will take, if the given share of
// it took the given time. It returns "" until enough is done for an estimate.
func remaining(took time.Duration, share float64) string {
	if took < time.Second || share <= 0 || share >= 1 {
		return ""
	}
	return fmt.Sprintf(", %v left,", time.Duration(float64(took)*(1-share)/share).Round(
		time.Second))
}

// embeddedAtOnce is the number of documents between two reports of progress.
const embeddedAtOnce = 32
