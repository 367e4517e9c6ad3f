package ollama

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// replaceGoStructs returns a rendered prompt with the Go structs of its tools replaced by JSON.
// Templates that contain {{ .Function }} print a tool as a Go struct, so that the model never sees
// a schema:
//
//	{get_weather Weather for a city {object <nil> <nil> [city] {"city":{"type":"string"}}}}
//
// Such text is replaced by the JSON of the function, or only of its parameters, with the schema as
// the client wrote it (full). A text is replaced only if it is byte for byte what the server prints
// for one of the tools in sent, and in their order. So a merely similar text in a user's message
// stays.
func replaceGoStructs(prompt string, sent []upstream.Tool, full []chat.Tool) string {
	// Searching for the part that begins with a rare byte is several times faster in a prompt of
	// words and blanks.
	if !strings.Contains(prompt, structMark[len(" <nil"):]) {
		return prompt
	}
	texts := make([]string, len(sent))
	for i, tool := range sent {
		texts[i] = goText(tool.Function.Parameters)
	}
	var b strings.Builder
	written, next := 0, 0 // bytes of the prompt, and tools
	for at := range marks(prompt, structMark) {
		for i := next; i < min(len(sent), next+maxLeftOut); i++ {
			head, _, _ := strings.Cut(texts[i], structMark)
			// The mark is inside the text, after the type; the text begins before it.
			from := at - len(head)
			if from < written || !strings.HasPrefix(prompt[from:], texts[i]) {
				continue
			}
			text, to := schemaJSON(full[i]), from+len(texts[i])
			front := fmt.Sprintf("{%s %s ", sent[i].Function.Name, sent[i].Function.Description)
			if strings.HasSuffix(prompt[written:from], front) &&
				strings.HasPrefix(prompt[to:], "}") {
				text, from, to = functionJSON(full[i]), from-len(front), to+1
			}
			b.WriteString(prompt[written:from] + text)
			written, next = to, i+1
			break
		}
	}
	return b.String() + prompt[written:]
}

// structMark is in every struct that is printed in this way, after the type. It means no $defs and
// no items. A schema's own text never contains it, since JSON escapes the sign <.
const structMark = " <nil> <nil> "

// maxLeftOut is how many consecutive tools a template may leave out. Looking for every tool at
// every position would take quadratic time.
const maxLeftOut = 8

// marks returns an iterator over the offsets at which a word occurs in a text.
func marks(text, word string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; at += len(word) {
			i := strings.Index(text[at:], word)
			if i < 0 || !yield(at+i) {
				return
			}
			at += i
		}
	}
}

// goText returns parameters as Ollama's templates print them: a Go struct with the type, no $defs,
// no items, the required names, and the properties, which are printed as JSON, sorted by name. It
// uses Ollama's own type. So keywords that this type drops (pattern, format, additionalProperties)
// are missing here as in the prompt. For parameters that cannot be parsed it returns a text that no
// prompt contains.
func goText(parameters json.RawMessage) string {
	var p api.ToolFunctionParameters
	if err := json.Unmarshal(parameters, &p); err != nil {
		return "\x00" // no prompt contains it
	}
	props, err := json.Marshal(p.Properties.ToMap())
	if err != nil {
		return "\x00"
	}
	return fmt.Sprintf("{%s <nil> <nil> %v %s}", p.Type, p.Required, props)
}

// functionJSON returns a tool's name, description and parameters as one JSON object. In a prompt it
// replaces the Go struct that {{ .Function }} prints.
func functionJSON(t chat.Tool) string {
	return plainJSON(upstream.Function{Name: t.Name, Description: t.Description,
		Parameters: json.RawMessage(schemaJSON(t))})
}

// schemaJSON returns a tool's schema in one line. A tool without a schema gets one that allows no
// arguments, since a missing schema would be "null".
func schemaJSON(t chat.Tool) string {
	if len(t.Schema) == 0 {
		return `{"type":"object","properties":{}}`
	}
	return plainJSON(t.Schema)
}

// plainJSON returns v as JSON in one line, or {} if that fails. It does not escape < and &, because
// a model reads the text.
func plainJSON(v any) string {
	text, err := chat.JSON(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
