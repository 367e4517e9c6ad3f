package form

import (
	"net/http"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/sse"
)

// maxCutHeader is how many bytes of a cut call a header may hold: clients accept a few KiB of
// headers.
const maxCutHeader = 512

// TellHeaders writes into the headers of a whole reply how it came about. A header can hold only
// printable ASCII, so text of the model is quoted. LeftOut names the calls of a cut reply that the
// client does not get.
func TellHeaders(h http.Header, m *chat.Meta, leftOut ...string) {
	SetHeader(h, "Toolnorm-Calls-Left-Out", strings.Join(leftOut, ","))
	if m == nil {
		return
	}
	SetHeader(h, "Toolnorm-Format", m.Format)
	SetHeader(h, "Toolnorm-Strategy", m.Strategy)
	SetHeader(h, "Toolnorm-Repairs", strings.Join(m.Repairs, ","))
	if m.Cut != "" {
		SetHeader(h, "Toolnorm-Cut", strconv.QuoteToASCII(m.Cut[:min(len(m.Cut), maxCutHeader)]))
	}
}

// TellComments writes, as comments of a stream, what was done to the request, what had to be
// repaired in the model's calls, and what was left out of a cut call. The headers were sent long
// before; a whole reply says the same in the headers Toolnorm-Repairs, Toolnorm-Cut and
// Toolnorm-Calls-Left-Out.
func TellComments(w *sse.Writer, notes func() []string, m *chat.Meta, leftOut ...string) {
	if notes != nil {
		for _, note := range notes() {
			w.Comment(HeaderSafe(note))
		}
	}
	if len(leftOut) > 0 {
		w.Comment("calls-left-out=" + HeaderSafe(strings.Join(leftOut, ",")))
	}
	if m == nil {
		return
	}
	if m.Cut != "" {
		w.Comment("cut=" + strconv.QuoteToASCII(m.Cut))
	}
	if len(m.Repairs) > 0 {
		w.Comment("format=" + HeaderSafe(m.Format) + " repairs=" +
			HeaderSafe(strings.Join(m.Repairs, ",")))
	}
}

// Waiting returns the text of a comment that keeps a connection open, and that says what is waited
// for, if that is known. The text does not begin with "ping": Continue's line reader ends at ":
// ping".
func Waiting(said string) string {
	if said == "" {
		return "keep-alive"
	}
	return "keep-alive: " + HeaderSafe(said)
}
