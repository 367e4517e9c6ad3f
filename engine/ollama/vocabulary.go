package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

const (
	vocabularyTime = 30 * time.Second // a server reads the whole head of a model's file for it
	maxVocabulary  = 256 << 20        // bytes read of it: 262,144 tokens with their merges are 20 MB
	maxTokens      = 4 << 20          // tokens that are counted
	controlToken   = 3                // the type of tokens that a llama-server leaves out of the text
)

// Controls are those of the marks that the model's vocabulary has as control tokens, sorted. The vocabulary is
// long, so the server should be asked once. Which marks are control tokens is a matter of the file, not of the
// family: one Gemma 4 has <|tool_call> as type 3, another conversion of it as type 4, which raw text shows. A
// model without a GGUF vocabulary (safetensors) has none.
//
// An answer that breaks off is asked for once more: it is some megabytes long, and a request must not fail since a busy server,
// or what stands in front of it, dropped what can be read again.
func (o *Client) Controls(ctx context.Context, p *wait.Pulse, model string, marks []string) ([]string, error) {
	all, err := o.controls(ctx, p, model, marks)
	if errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil {
		return o.controls(ctx, p, model, marks)
	}
	return all, err
}

// controls is one request for them.
func (o *Client) controls(ctx context.Context, p *wait.Pulse, model string, marks []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, vocabularyTime)
	defer cancel()
	w := p.Loading()
	resp, err := o.calls.Post(ctx, p, o.base+"/api/show", map[string]any{"model": model, "verbose": true}, w)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all, err := readControls(io.LimitReader(p.Reader(resp.Body, w, p.Later()), maxVocabulary), marks)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the model server's vocabulary cannot be read: %w", err)
	}
	return all, nil
}

// readControls reads a verbose description of a model token by token: at some 120 bytes a parsed value, 262,144
// tokens and their types would take more than 60 MB at once. What is kept is where the marks are, and a byte a token. The arrays may
// come in any order, so places and types are joined at the end; without verbose null stands in place of each.
//
//	{"license":"…","model_info":{"tokenizer.ggml.tokens":["<pad>","<t>"],"tokenizer.ggml.merges":[…],"tokenizer.ggml.token_type":[3,3]}}
func readControls(r io.Reader, marks []string) (all []string, err error) {
	at := make(map[string]int, len(marks)) // of each mark, -1 for those that are no tokens
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

// eachElement hands take the elements of every list that is a member of model_info, each with the list's name and its place. All else,
// the merges' pairs among it, is passed over: of it only how deep it lies is known.
func eachElement(d *json.Decoder, take func(list string, i int, t json.Token)) error {
	var section, list, last string // the description's member, the list in it, and the text that was read last: a key
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
