package gguf

import (
	"fmt"
	"slices"
	"strings"
)

// reserved are texts that a tokenizer takes for its own, and that therefore no piece may be: those
// which llama.cpp treats as the end of a reply wherever they appear in a vocabulary, and what the
// one merge makes.
var reserved = []string{
	" t", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>",
	"<|return|>", "<|call|>", "<|calls|>", "<|flush|>", "<end_of_turn>", "<turn|>",
	"<|tool_response>", "<|endofturn|>", "<|end_of_text|>", "<EOT>", "_<EOT>", "<end_of_utterance>",
	"</s>", "<eos>", "[EOT]", "[EOS]", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|eot|>",
	"<|eom|>",
}

// cutter cuts texts into pieces, no two of which are equal. Equal pieces would be one token. The
// model chooses the next token by the last one, so it would not know after which of the two pieces
// it is.
type cutter struct{ used map[string]bool }

// withControl cuts a script at its control tokens, each of which becomes one piece. The text
// between two of them is cut like a script. If that gives no pieces that are new in the model, the
// text becomes one piece, which other scripts may have as well. If the text is too short for a
// piece, or occurs twice, it forms one piece together with the control token after it.
func (c *cutter) withControl(s Script) ([]string, error) {
	if len(s.Parts) != 1 || s.Loop {
		return nil, fmt.Errorf("a script with control tokens has one part and ends")
	}
	var out []string
	there, last := map[string]bool{}, ""
	for text := s.Parts[0]; text != ""; {
		before, mark, after := cutFirst(text, s.Control, there)
		if before != "" {
			pieces, err := c.free(before, s.Piece)
			if err != nil {
				pieces = []string{before}
			}
			if len(before) < 2 || slices.Contains(out, pieces[0]) {
				if mark == "" {
					mark = last
				}
				rest := slices.DeleteFunc(slices.Clone(s.Control), func(m string) bool {
					return m == mark
				})
				if len(rest) == len(s.Control) {
					return nil, fmt.Errorf("the piece %q comes twice, or is shorter than two bytes",
						before)
				}
				s.Control = rest
				return c.withControl(s)
			}
			out = append(out, pieces...)
		}
		if mark != "" {
			out = append(out, mark)
			there[mark], last = true, mark
		}
		text = after
	}
	return out, nil
}

// cutFirst cuts a text around the first of the marks in it, texts that must be a token each. It
// ignores marks in the map called there, which the script has had before: only one piece can follow
// a token, so a mark is a token only once. Without a mark, before is the whole text.
func cutFirst(text string, marks []string, there map[string]bool) (before, mark, after string) {
	at := len(text)
	for _, m := range marks {
		if i := strings.Index(text, m); i >= 0 && i < at && !there[m] {
			at, mark = i, m
		}
	}
	return text[:at], mark, text[at+len(mark):]
}

// cutAll cuts the scripts into pieces, which must all differ. Scripts that can be cut in only one
// way go first, so that the others do not take their pieces: those that loop, and those of several
// parts, because each part is one piece. It fails if a script cannot be cut.
func cutAll(scripts []Script) ([][]string, error) {
	c := cutter{used: map[string]bool{}}
	for _, r := range reserved {
		c.used[r] = true
	}
	out := make([][]string, len(scripts))
	for _, fixed := range []bool{true, false} {
		for i, s := range scripts {
			if (len(s.Parts) > 1 || s.Loop) != fixed {
				continue
			}
			var err error
			if out[i], err = c.cut(s); err != nil {
				return nil, fmt.Errorf("gguf: script %q: %w", s.Name, err)
			}
		}
	}
	return out, nil
}

// cut divides the text of one script into the pieces that become tokens. An empty script has none.
// It fails if the pieces cannot all differ.
func (c *cutter) cut(s Script) ([]string, error) {
	if len(s.Control) > 0 {
		pieces, err := c.withControl(s)
		for _, p := range pieces {
			c.used[p] = true
		}
		return pieces, err
	}
	if len(s.Parts) > 1 {
		return c.exact(s.Parts)
	}
	if len(s.Parts) == 0 || s.Parts[0] == "" {
		return nil, nil
	}
	return c.free(s.Parts[0], s.Piece)
}

// exact returns the parts unchanged, to be one piece, and thus one token, each. It returns an error
// if a part is a token already. Any single byte is one, because the vocabulary begins with all 256.
func (c *cutter) exact(parts []string) ([]string, error) {
	for _, p := range parts {
		if len(p) < 2 || c.used[p] {
			return nil, fmt.Errorf("the part %q is a token already, or shorter than two bytes", p)
		}
		c.used[p] = true
	}
	return parts, nil
}

// free cuts a text into pieces of size-1, size or size+1 bytes, and returns them. It cuts between
// bytes and not characters, because tokens of real models split characters as well, and clients
// must join the halves. Each piece must be new in the model: one that is not grows byte by byte,
// and at the end of the text is joined to the pieces before it. free returns an error if the text
// cannot be cut so.
func (c *cutter) free(text string, size int) ([]string, error) {
	if size == 0 {
		size = 3
	}
	var out []string
	for k, rest := 0, text; rest != ""; k++ {
		n := min(max(2, size+(7*k)%3-1), len(rest))
		for n < len(rest) && c.used[rest[:n]] {
			n++
		}
		p := rest[:n]
		rest = rest[n:]
		for len(p) < 2 || c.used[p] {
			if len(out) == 0 {
				return nil, fmt.Errorf(
					"its text %q cannot be cut into pieces that no other script has", text)
			}
			last := out[len(out)-1]
			delete(c.used, last)
			out, p = slices.Delete(out, len(out)-1, len(out)), last+p
		}
		c.used[p] = true
		out = append(out, p)
	}
	return out, nil
}
