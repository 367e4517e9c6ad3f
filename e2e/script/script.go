// Package script reads files of scripts: what a scripted model says, and what a client must get of
// it.
//
// A file opens with free text, then come sections in pairs:
//
//	-- hermes_pre --
//	Let me check that for you.
//	<tool_call>
//	{"name": "get_weather", "arguments": {"city": "Berlin"}}
//	</tool_call>
//	-- hermes_pre: reply --
//	text Let me check that for you.
//	call get_weather {"city": "Berlin"}
//
// The text ends before the last newline of its section. Words behind the name are options: "anchor"
// counts the script among those that Ollama's own figures are known for, "quoted" says that the
// text is written as a JSON string, "loop" repeats it for ever, "piece=N" makes a token of about N
// bytes. A ¦ in the text is a forced border between two tokens; with one, every part is exactly one
// token. {{words X N}} stands for about N bytes of words "X0 X1 X2 …", in both sections.
//
// A reply has one line for each thing the client gets, in any order but that of the calls:
//
//	text T        the visible text; its outer white space is free. A JSON string when it begins with a quote
//	same          the visible text is the script's, byte for byte
//	think T       the reasoning, likewise
//	call N ARGS   a call: key order and digits count, white space does not
//	open          no call; text and end are free
//
// A script without a reply is not checked.
//
// A line of the file's opening that begins with "control " lists marks that are control tokens in a
// second vocabulary; see
// [Controlled].
package script

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"toolnorm/e2e/gguf"
)

// Script is one text with its expected reply.
type Script struct {
	Name   string
	Family string // the file's name without its ending
	Anchor bool   // counted in the comparison with Ollama's own endpoint
	Model  gguf.Script
	Reply  *Reply // nil: anything may come

	// marks of its file that it holds, and that are control tokens in a second vocabulary
	Control []string
}

// Text returns what the model writes.
func (s Script) Text() string { return strings.Join(s.Model.Parts, "") }

// Reply is what a client must get when the model writes the script.
type Reply struct {
	Text  string // visible
	Exact bool   // Text counts byte for byte, outer white space too
	Think string
	Calls []Call
	Open  bool // only the absence of calls is checked
}

// Call is a call with its arguments as JSON text.
type Call struct{ Name, Args string }

// Load reads every *.txt file of a folder, sorted by file and by place in it.
// The order of scripts decides the numbers of tokens, so it must be the same each time.
func Load(fsys fs.FS) ([]Script, error) {
	names, err := fs.Glob(fsys, "*.txt")
	if err != nil {
		return nil, err
	}
	var all []Script
	for _, name := range names {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		scripts, err := Parse(strings.TrimSuffix(name, ".txt"), string(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, scripts...)
	}
	return all, nil
}

// Models returns the field Model of each script. With these, gguf.New makes a model that writes the
// scripts.
func Models(scripts []Script) []gguf.Script {
	out := make([]gguf.Script, len(scripts))
	for i, s := range scripts {
		out[i] = s.Model
	}
	return out
}

// Controlled returns those scripts that name control tokens, and makes these texts control tokens
// of the models. In real models the text that begins a call can be a control token, as Mistral's
// [TOOL_CALLS], and servers leave such tokens out of the text.
func Controlled(scripts []Script) (out []Script) {
	for _, s := range scripts {
		if len(s.Control) > 0 && len(s.Model.Parts) == 1 && !s.Model.Loop {
			s.Model.Control = s.Control
			out = append(out, s)
		}
	}
	return out
}

var (
	controls = regexp.MustCompile(`(?m)^control (.*)$`)
	header   = regexp.MustCompile(`(?m)^-- ([a-z0-9_.-]+)(: reply)?((?: [a-z0-9=]+)*) --\n`)
	words    = regexp.MustCompile(`\{\{words (\w+) (\d+)\}\}`)
)

// Parse returns the scripts of a family, read from the text of one file. The section with the
// expected reply must come directly after the script's own section. Otherwise a misspelled name
// would make a script that nobody checks.
func Parse(family, text string) ([]Script, error) {
	text = words.ReplaceAllStringFunc(text, makeWords)
	heads := header.FindAllStringSubmatchIndex(text, -1)
	var out []Script
	var control []string
	if m := controls.FindStringSubmatch(text[:firstOf(heads, len(text))]); m != nil {
		control = strings.Fields(m[1])
	}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		name, body, options := text[h[2]:h[3]], text[h[1]:end], strings.Fields(text[h[6]:h[7]])
		if h[4] < 0 {
			s := Script{Name: name, Family: family}
			if err := s.read(body, options); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			s.Control = slices.DeleteFunc(slices.Clone(control), func(mark string) bool {
				return !strings.Contains(s.Text(), mark)
			})
			out = append(out, s)
			continue
		}
		if len(out) == 0 || out[len(out)-1].Name != name {
			return nil, fmt.Errorf("the reply of %q does not follow its script", name)
		}
		reply, err := readReply(out[len(out)-1].Text(), body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[len(out)-1].Reply = reply
	}
	return out, nil
}

// firstOf returns the offset of the first section's heading, or the end of the text if there is
// none. The parameter heads has the offsets of all headings.
func firstOf(heads [][]int, end int) int {
	if len(heads) > 0 {
		return heads[0][0]
	}
	return end
}

func (s *Script) read(body string, options []string) error {
	body = strings.TrimSuffix(body, "\n")
	if slices.Contains(options, "quoted") {
		if err := json.Unmarshal([]byte(body), &body); err != nil {
			return fmt.Errorf("its text: %w", err)
		}
	}
	s.Model = gguf.Script{Name: s.Name, Parts: strings.Split(body, "¦")}
	for _, o := range options {
		piece, isPiece := strings.CutPrefix(o, "piece=")
		switch {
		case o == "anchor":
			s.Anchor = true
		case o == "loop":
			s.Model.Loop = true
		case isPiece:
			n, err := strconv.Atoi(piece)
			if err != nil || n < 2 {
				return fmt.Errorf("option %q: want a number of bytes, two or more", o)
			}
			s.Model.Piece = n
		case o != "quoted":
			return fmt.Errorf("unknown option %q", o)
		}
	}
	return nil
}

func readReply(text, body string) (*Reply, error) {
	r := &Reply{}
	for line := range strings.Lines(body) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		var err error
		switch word {
		case "text":
			r.Text, err = unquote(rest)
		case "same":
			r.Text, r.Exact = text, true
		case "think":
			r.Think, err = unquote(rest)
		case "call":
			name, args, _ := strings.Cut(rest, " ")
			if !json.Valid([]byte(args)) {
				err = fmt.Errorf("the arguments %q are no JSON", args)
			}
			r.Calls = append(r.Calls, Call{name, args})
		case "open":
			r.Open = true
		default:
			err = fmt.Errorf("unknown line %q", line)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// unquote returns s unchanged, or decoded if it begins with a quotation mark. It fails if s begins
// with one but is not a valid JSON string.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	var out string
	err := json.Unmarshal([]byte(s), &out)
	return out, err
}

func makeWords(macro string) string {
	m := words.FindStringSubmatch(macro)
	size, _ := strconv.Atoi(m[2]) // digits only, by the pattern
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s%d", m[1], i)
	}
	return b.String()
}
