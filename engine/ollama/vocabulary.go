package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// vocabulary is what is kept of one while it is read: where the marks are, and a byte a token, 256 KiB of the
// longest that are known.
type vocabulary struct {
	*json.Decoder
	at      map[string]int // the marks that are asked for, -1 for those that are no tokens
	control []bool
}

// readControls reads a verbose description of a model piece by piece: at some 120 bytes a parsed value, 262,144
// tokens and their types would take more than 60 MB at once. The arrays may come in any order, so places and types
// are joined at the end.
func readControls(r io.Reader, marks []string) ([]string, error) {
	v := vocabulary{Decoder: json.NewDecoder(r), at: make(map[string]int, len(marks))}
	for _, mark := range marks {
		v.at[mark] = -1
	}
	err := v.object(func(key string) error {
		if key != "model_info" {
			return v.skip()
		}
		return v.object(v.info)
	})
	if err != nil {
		return nil, err
	}
	var all []string
	for mark, i := range v.at {
		if i >= 0 && i < len(v.control) && v.control[i] {
			all = append(all, mark)
		}
	}
	slices.Sort(all)
	return all, nil
}

// info reads one member of what a server says of a model's file. The merges and scores, most of its bytes, are
// passed over.
func (v *vocabulary) info(key string) error {
	switch {
	case key == "tokenizer.ggml.tokens":
		return v.array(func(i int, t json.Token) {
			s, _ := t.(string)
			if _, asked := v.at[s]; asked {
				v.at[s] = i
			}
		})
	case key == "tokenizer.ggml.token_type":
		return v.array(func(_ int, t json.Token) {
			v.control = append(v.control, t == float64(controlToken))
		})
	}
	return v.skip()
}

// object reads the members of an object, each by its key. What is no object is passed over.
func (v *vocabulary) object(member func(key string) error) error {
	t, err := v.Token()
	if err != nil || t != json.Delim('{') {
		return errors.Join(err, v.rest(t))
	}
	for v.More() {
		key, err := v.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if err := member(name); err != nil {
			return err
		}
	}
	_, err = v.Token()
	return err
}

// array reads the elements of an array, which are no arrays or objects themselves. What is no array is passed
// over: without verbose, Ollama says null in place of each.
func (v *vocabulary) array(element func(i int, t json.Token)) error {
	t, err := v.Token()
	if err != nil || t != json.Delim('[') {
		return errors.Join(err, v.rest(t))
	}
	for i := 0; v.More(); i++ {
		t, err := v.Token()
		if err != nil {
			return err
		}
		if _, nested := t.(json.Delim); nested || i >= maxTokens {
			return fmt.Errorf("element %d is none of a vocabulary", i)
		}
		element(i, t)
	}
	_, err = v.Token()
	return err
}

// skip passes over a value.
func (v *vocabulary) skip() error {
	t, err := v.Token()
	if err != nil {
		return err
	}
	return v.rest(t)
}

// rest passes over what is left of a value that begins with a token. It counts brackets and keeps nothing.
func (v *vocabulary) rest(t json.Token) (err error) {
	for depth := 0; ; {
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth <= 0 {
			return nil
		}
		if t, err = v.Token(); err != nil {
			return err
		}
	}
}
