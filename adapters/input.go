package adapters

import (
	"context"
	"io"
	"slices"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// input is the source of a reply's text and of the other events. It is the only part that waits: a
// request for a byte that has not arrived ends up in Fill. It also knows how the reply ended, since
// the same text means one thing if it was cut by its length and another if the model stopped.
type input struct {
	*scan.Buffer
	ctx   context.Context // of the request; nil: the reading is never cancelled
	src   chat.Source
	taker taker

	last   string // the piece read last
	lastAt int    // its position
	ended  bool   // no text follows before the barrier, or at all
	dead   bool   // events are no longer taken

	control []string     // see Options.Control
	whole   bool         // see Options.Whole
	tokens  map[int]bool // positions at which a piece of the text was a control token

	barrier chat.Event // the event that ended the text; None at the end of the source
	finish  chat.Event // the Finish event, once seen
	usage   chat.Event // the Usage event, once seen
	err     error      // why the source failed
}

// taker is the decoder as input sees it. All readers of the text use input, so input knows them
// only through this interface. Before input waits for the source, the taker sends everything that
// is decided. Input drops only bytes that the taker no longer needs.
type taker interface {
	// sends everything that is decided, and returns the first position whose bytes may be needed
	// again
	settle() int
	sawEnd() // a byte after the end was asked for
}

// SawEnd implements scan.Filler. It tells the decoder that a byte after the end of the text was
// asked for.
func (in *input) SawEnd() { in.taker.sawEnd() }

// Fill implements scan.Filler: it sends everything that is decided, and then reads one more piece
// of text. It returns false at the end of the text. Other events are barriers: a server's own call
// or thought ends the text before it, and no mark extends across it. Usage is kept for the end,
// since some servers send it in the middle. An error of the source also ends the text, and is kept
// in err.
func (in *input) Fill() bool {
	if in.ended || in.dead {
		return false
	}
	in.compact(in.taker.settle())
	for !in.dead {
		e, err := in.src.Next()
		if err != nil {
			in.ended = true
			if err != io.EOF {
				in.err = err
			}
			return false
		}
		switch {
		case e.Kind == chat.Text && e.Text == "" || e.Kind == chat.None:
		case e.Kind == chat.Text:
			in.last, in.lastAt = e.Text, in.Base+len(in.Buf)
			if slices.Contains(in.control, e.Text) {
				if in.tokens == nil {
					in.tokens = map[int]bool{}
				}
				in.tokens[in.lastAt] = true
			}
			in.Append(e.Text)
			return true
		case e.Kind == chat.Usage:
			in.usage = e
		default:
			in.ended, in.barrier = true, e
			if e.Kind == chat.Finish {
				in.finish = e
			}
			return false
		}
	}
	return false
}

// compact drops bytes that are no longer needed, which are those before the position in the
// parameter needed. The last lookBack bytes before that position are kept, because the announcement
// of a call is looked up there. Bytes are moved only when 4 KiB can be dropped at once, so that a
// long reply is copied once and not once per token.
func (in *input) compact(needed int) {
	if n := needed - lookBack - in.Base; n >= compactAt {
		in.Drop(n)
	}
}

// compactAt is the number of dropped bytes that makes it worth moving the rest.
const compactAt = 4096

// lengthCut reports whether the text ended because of a limit, because the server gave up, or
// because the source failed, rather than because the model stopped.
func (in *input) lengthCut() bool {
	return in.finish.Text == chat.Length || in.abandoned() || in.failed()
}

// failed reports whether the source ended without an event that ends the reply, whether or not it
// returned an error.
func (in *input) failed() bool { return in.ended && !in.dead && in.barrier.Kind == chat.None }

// abandoned reports whether the server stopped passing on the reply, although the model perhaps
// wrote more.
func (in *input) abandoned() bool { return in.finish.Text == chat.Abandoned }

// stop ends the reading of the reply. It is called when the caller takes no more events.
func (in *input) stop() { in.dead, in.ended = true, true }

// left reports whether the client no longer waits for the reply. If so, it ends the reading, and
// the reply's error is the cause of the context, which is the client's own reason. The source also
// notices a cancelled context, but it is not asked before the buffer is read, and the buffer may
// contain megabytes.
func (in *input) left() bool {
	if in.ctx == nil || in.ctx.Err() == nil {
		return false
	}
	in.err, in.ended = context.Cause(in.ctx), true
	return true
}
