package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
)

// scripted is a model that writes one text after the other, whatever it is asked, and remembers
// what that was.
type scripted struct {
	mu    sync.Mutex
	texts []string
	ends  []string // how the first replies end; the others with stop
	asked []*chat.Request
}

// refused is a text that the engine refuses, since it is not in the form that was asked for.
const refused = "(in no form)"

// Stream writes the next text, in small pieces.
func (s *scripted) Stream(_ context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, end := "Done.", chat.Stop
	if n := len(s.asked); n < len(s.ends) {
		end = s.ends[n]
	}
	if len(s.asked) < len(s.texts) {
		text = s.texts[len(s.asked)]
	}
	s.asked = append(s.asked, r)
	return func(yield func(chat.Event, error) bool) {
		if text == refused {
			yield(chat.Event{}, fault.New(fault.Failed, "the model wrote no call"))
			return
		}
		for len(text) > 0 {
			n := min(5, len(text))
			if !yield(chat.Event{Kind: chat.Text, Text: text[:n]}, nil) {
				return
			}
			text = text[n:]
		}
		counts := &chat.Counts{Prompt: 10, Completion: 5}
		_ = yield(chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: counts}}, nil) && yield(chat.Event{Kind: chat.Finish, Text: end}, nil)
	}
}

// told is all that the model was told at the last step.
func (s *scripted) told() string {
	var b strings.Builder
	for _, m := range s.asked[len(s.asked)-1].Messages {
		b.WriteString(m.Content + "\n")
	}
	return b.String()
}

// desk is servers with the tools of testdata, that note what is called.
type desk struct {
	registry *tools.Registry
	names    []string
	mu       sync.Mutex
	ran      []string
	down     map[string]string
	answer   func(name string, args json.RawMessage) tools.Result // nil: success
}

// newDesk fills a registry as tools/remote does.
func newDesk(t testing.TB) *desk {
	t.Helper()
	text := must.Read(t, "testdata/tools.json")
	var servers map[string][]struct {
		Name, Description string
		Schema            json.RawMessage
	}
	must.OK(t, json.Unmarshal(text, &servers))
	d := &desk{registry: tools.New(tools.Options{Fit: new(toolargs.Reader).Fit})}
	for server, list := range servers {
		var all []tools.Tool
		for _, tool := range list {
			all = append(all, d.tool(server+"."+tool.Name, tool.Description, tool.Schema))
		}
		must.OK(t, d.registry.Set(server, all...))
		d.names = append(d.names, server)
	}
	slices.Sort(d.names)
	return d
}

func (d *desk) tool(name, about string, schema json.RawMessage) tools.Tool {
	return tools.Tool{Name: name, Description: about, Schema: schema, Call: func(_ context.Context, args json.RawMessage) (tools.Result, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ran = append(d.ran, name+" "+string(compact(args)))
		switch {
		case d.answer != nil:
			return d.answer(name, args), nil
		case strings.Contains(string(args), "missing.txt"):
			return tools.Failure("there is no file missing.txt"), nil
		}
		return tools.TextOf("Success: " + name), nil
	}}
}

// Names are the servers.
func (d *desk) Names() []string { return d.names }

// Left is not asked for, since nobody asks a desk back.
func (d *desk) Left(string) {}

// Collect gives the tools of those that are not down.
func (d *desk) Collect(_ context.Context, names []string) (all []tools.Tool, down map[string]string) {
	for _, name := range names {
		if d.down[name] != "" {
			continue
		}
		for _, tool := range d.registry.Snapshot().Tools {
			if strings.HasPrefix(tool.Name, name+".") {
				all = append(all, tool)
			}
		}
	}
	return all, d.down
}

// transcript is one case of testdata/transcripts.
type transcript struct {
	name        string
	steps       []string
	runs, told  []string
	ends        string
	recoverable bool // something runs
}

func readTranscripts(t testing.TB) (all []*transcript) {
	t.Helper()
	files, err := fs.Glob(os.DirFS("testdata"), "transcripts/*.txt")
	must.OK(t, err)
	for _, file := range files {
		src := must.Read(t, "testdata/"+file)
		sections, err := golden.Sections(src)
		must.OK(t, err)
		for _, s := range sections {
			name, part, ok := strings.Cut(s.Name, ": ")
			if !ok {
				t.Fatalf("%s: section %q", file, s.Name)
			}
			if len(all) == 0 || all[len(all)-1].name != name {
				all = append(all, &transcript{name: name})
			}
			all[len(all)-1].take(t, part, s.Text)
		}
	}
	return all
}

func (c *transcript) take(t testing.TB, part, text string) {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	switch {
	case part == fmt.Sprintf("step %d", len(c.steps)+1):
		c.steps = append(c.steps, text)
	case part == "runs":
		c.runs, c.recoverable = lines, len(lines) > 0
	case part == "told":
		c.told = lines
	case part == "ends":
		c.ends = strings.TrimSpace(text)
	default:
		t.Fatalf("%s: no part %q", c.name, part)
	}
}

func TestTranscripts(t *testing.T) {
	all := readTranscripts(t)
	if len(all) < 40 {
		t.Fatalf("%d transcripts", len(all))
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			d, m := newDesk(t), &scripted{texts: c.steps}
			out, err := New(Config{Model: m, Tools: d.registry, Servers: d}).Run(t.Context(), Ask{Request: question("Go on.")}, nil)
			must.OK(t, err)
			if got := fmt.Sprintf("%s %q", out.Stop, out.Text); got != c.ends {
				t.Errorf("ends with %s\nwant      %s", got, c.ends)
			}
			if !slices.Equal(d.ran, c.runs) {
				t.Errorf("runs\n%s\nwant\n%s", strings.Join(d.ran, "\n"), strings.Join(c.runs, "\n"))
			}
			told := m.told()
			_, told, _ = strings.Cut(told, "Go on.")
			for _, want := range c.told {
				var ok bool
				if _, told, ok = strings.Cut(told, want); !ok {
					t.Errorf("the model is not told %q:\n%s", want, m.told())
				}
			}
		})
	}
}

func question(text string) chat.Request {
	return chat.Request{Model: "gemma3", Messages: []chat.Message{{Role: chat.User, Content: text}}}
}
