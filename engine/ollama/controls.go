package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// passthrough is the parser of Ollama that leaves everything as the model wrote it. It names no
// tags to the runner, so with it control tokens are hidden, as they are in raw text.
const passthrough = "passthrough"

// llamaRunner is the first version of Ollama whose models are run by a llama-server. This leaves
// control tokens out of the text and out of its probabilities unless it is asked for them by name.
// It is also the first version whose probabilities have the bytes of a character that is split over
// tokens. Version 0.24 writes U+FFFD for each part, so tap, which reads tokens, is not used there.
const llamaRunner = "0.30.0"

// findControls sets three facts in f: which tags of the model's family are control tokens, with
// which strategies the server shows these, and whether the tokens of a reply show its whole text.
// Strategy raw, which does not show control tokens, would do worse with such a model than Ollama
// alone: thinking would be part of the answer, and calls would lack their tags.
//
// Control tokens are read from the vocabulary, which is long, so it is asked for only once. If the
// server refuses to send it, no control tokens are known. Tags that end a turn are ignored, because
// no server shows them. A server that states no version, or 0.0.0 as a build without flags does, is
// taken for a new one. findControls returns an error if the server cannot be reached.
func (b *Backend) findControls(ctx context.Context, o *upstream.Order, show *api.ShowResponse,
	f *upstream.Facts) (err error) {
	f.ControlMarks, err = b.Controls(ctx, o.Pulse, o.Model, o.Format.Own())
	if err != nil && upstream.IsRefusal(err) {
		o.Log.Warn().Str("model", o.Model).Err(err).Msg(
			"the vocabulary is not known: marks that are control tokens are not seen")
		err = nil
	}
	if err != nil || len(f.ControlMarks) == 0 && !f.Tools {
		return err
	}
	version, err := b.Version(ctx)
	// a proxy before Ollama may not have this path: then its version is not known
	if upstream.IsRefusal(err) {
		version, err = "", nil
	}
	if err != nil {
		return err
	}
	// An older server's own runner shows control tokens in raw text, so nothing is hidden there.
	if known := VersionNumbers(version) != [3]int{}; known && Older(version, llamaRunner) {
		return nil
	}
	f.Taps = f.Tools
	if len(f.ControlMarks) > 0 {
		f.RawLacksMarks = true
		f.Strategies, f.NamesMarks = readers(show, f.ControlMarks)
	}
	return nil
}

// strict lists the parsers of Ollama that refuse a call of a tool that the request does not offer.
// A request with a rendered prompt offers the server no tools, so with the strategy tokens every
// call would break the stream. With these parsers tags are visible only in a chat. Each new version
// of Ollama may add one.
var strict = []string{"ministral", "glimmer"}

// readers returns the strategies with which a server of version llamaRunner or later shows the
// given tags (marks), which are control tokens, the best strategy first. Strategies that do not
// show the tags come last, in case the server refuses the others, because calls may be found
// without tags, too. The list is nil if no strategy shows the tags. The result named reports
// whether the server's own parser tells the model's runner the tags, so that the strategy tokens
// shows them.
func readers(show *api.ShowResponse, marks []string) (strategies []string, named bool) {
	const raw, tokens, tap, native, prompt = upstream.Raw, upstream.Tokens, upstream.Tap,
		upstream.Native, upstream.Prompt
	parser := Parser(show)
	reads := parser != "" && parser != passthrough
	switch {
	case reads && len(show.Messages) > 0: // they would be included twice in a rendered prompt
		return []string{tap, raw, native, prompt}, false
	case slices.Contains(strict, parser): // it knows the tools only in a chat
		return []string{tap, tokens, native, raw, prompt}, true
	case reads: // the server's own reader has the names of its marks
		return []string{tokens, tap, native, raw, prompt}, true
	// llama-server reads calls by the model's own template
	case strings.Contains(show.Template, "{%"):
		return []string{native, raw, prompt}, false
	// the server names the tag with which its template writes calls
	case slices.Contains(marks, toolMark(show.Template)):
		return []string{tap, raw, native, prompt}, false
	}
	return nil, false
}

// toolMark returns the tag that a Go template prints before a call. For the template
// {{ if .ToolCalls }}<tool_call>{"name": … it returns <tool_call>. Like Ollama, it takes the first
// text after the first condition on calls. If a model has no PARSER, this is the only tag that
// Ollama names to the program that runs the model. toolMark returns "" if the text does not begin
// with a tag, such as the text { in templates in llama3.1's style, or if the template has no
// condition on calls.
func toolMark(template string) string {
	_, rest, ok := strings.Cut(template, ".ToolCalls")
	for ok {
		if _, rest, ok = strings.Cut(rest, "}}"); !ok {
			break
		}
		text, _, _ := strings.Cut(rest, "{{")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		for _, pair := range []string{"<>", "[]"} {
			if i := strings.IndexByte(text, pair[1]); text[0] == pair[0] && i > 0 {
				return text[:i+1]
			}
		}
		return ""
	}
	return ""
}

const (
	vocabularyTime = 30 * time.Second // a server reads the whole head of a model's file
	// bytes of the vocabulary; 262,144 tokens with their merges have 20 MB
	maxVocabulary = 256 << 20
	maxTokens     = 4 << 20 // tokens that are counted
	// the type of tokens that a llama-server leaves out of the text
	controlToken = 3
)

// Controls returns those of the given tags (marks) that are control tokens in the model's
// vocabulary, sorted. The vocabulary is long, so the server should be asked once. Which tags are
// control tokens depends on the file, not on the model family. For example, one Gemma 4 has
// <|tool_call> as a control token (type 3), and another conversion of the same model has it as type
// 4, which raw text shows. For a model without a GGUF vocabulary (safetensors) the result is empty.
//
// An answer that breaks off is requested once more. It is some megabytes long, and a request must
// not fail because a busy server, or a proxy before it, dropped an answer that can be repeated.
// Controls returns an error if the server refuses, or if the second answer breaks off as well.
func (o *Client) Controls(ctx context.Context, p *wait.Pulse, model string, marks []string) (
	[]string, error) {
	all, err := o.controls(ctx, p, model, marks)
	if errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil {
		return o.controls(ctx, p, model, marks)
	}
	return all, err
}

// controls sends one request for the vocabulary, and returns those of the given tags (marks) that
// are control tokens in it. It returns an error if the server refuses, or if the answer breaks off.
func (o *Client) controls(ctx context.Context, p *wait.Pulse, model string, marks []string) (
	[]string, error) {
	ctx, cancel := context.WithTimeout(ctx, vocabularyTime)
	defer cancel()
	w := p.Loading()
	resp, err := o.calls.Post(ctx, p, o.base+"/api/show",
		map[string]any{"model": model, "verbose": true}, w)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all, err := readControls(io.LimitReader(p.Reader(resp.Body, w, p.Later()), maxVocabulary),
		marks)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the model server's vocabulary cannot be read: %w",
			err)
	}
	return all, nil
}

// readControls reads a verbose description of a model, and returns those of the given tags (marks)
// that are control tokens in it. It reads the JSON token by token, because at some 120 bytes for
// each parsed value, 262,144 tokens and their types would take more than 60 MB at once. It keeps
// only the indexes of the tags, and one byte for each token. The arrays of tokens and of their
// types may come in any order, so both are joined at the end. In a description that is not verbose
// these arrays are null. readControls returns an error if the description is not JSON or breaks
// off.
//
//	{"license":"…","model_info":{"tokenizer.ggml.tokens":["<pad>","<t>"],"tokenizer.ggml.merges":[…],"tokenizer.ggml.token_type":[3,3]}}
func readControls(r io.Reader, marks []string) (all []string, err error) {
	at := make(map[string]int, len(marks)) // of each mark, -1 for marks that are not tokens
	for _, mark := range marks {
		at[mark] = -1
	}
	var control []bool
	err = eachElement(json.NewDecoder(r), func(list string, i int, t json.Token) {
		switch {
		case list == "tokenizer.ggml.tokens":
			text, _ := t.(string)
			if _, asked := at[text]; asked {
				at[text] = i
			}
		case list == "tokenizer.ggml.token_type" && i < maxTokens:
			control = append(control, t == float64(controlToken))
		}
	})
	if err != nil {
		return nil, err
	}
	for mark, i := range at {
		if i >= 0 && i < len(control) && control[i] {
			all = append(all, mark)
		}
	}
	slices.Sort(all)
	return all, nil
}

// eachElement reads the description of a model. It calls the function take for each element of
// every list in model_info, with the list's name and the element's index, and skips everything
// else, including lists inside a list (merges). It returns an error if the JSON is invalid or
// breaks off.
func eachElement(d *json.Decoder, take func(list string, i int, t json.Token)) error {
	// the description's member, the list in it, and the last text, which may be a key
	var section, list, last string
	for depth, i := 0, 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch delim, _ := t.(json.Delim); delim {
		case '{', '[':
			if depth++; depth == 2 {
				section = last
			} else if depth == 3 && delim == '[' && section == "model_info" {
				list, i = last, 0
			}
		case '}', ']':
			if depth--; depth < 3 {
				list = ""
			}
		default:
			if depth == 3 && list != "" {
				take(list, i, t)
				i++
			}
			last, _ = t.(string)
		}
		if depth == 0 {
			return nil
		}
	}
}
