package form

import (
	"net/http"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/sse"
)

// maxCutHeader is how many bytes of a cut call are put into a header. Clients accept only a few KiB
// of headers.
const maxCutHeader = 512

// TellHeaders sets headers of a whole reply that say how it was made. A header may contain only
// printable ASCII, so text of the model is quoted. The parameter leftOut has the names of the calls
// in a cut reply that the client does not get.
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

// TellComments writes comments into a stream that say what was done to the request, what was
// repaired in the model's calls, and what was left out of a cut call. A stream cannot use headers
// for this, since they were sent long before. A whole reply has the same in the headers
// Toolnorm-Repairs, Toolnorm-Cut and Toolnorm-Calls-Left-Out.
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

// Waiting returns the text of a comment that keeps a connection open. Unless said is empty, the
// comment says what is awaited. It does not begin with "ping", because the editor plug-in Continue
// stops reading lines at ": ping".
func Waiting(said string) string {
	if said == "" {
		return "keep-alive"
	}
	return "keep-alive: " + HeaderSafe(said)
}
