package family

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/internal/clip"
	"toolnorm/internal/golden"
)

// Reply is the text that a model wrote, and the tools that it was offered. Both are needed to
// learn, because without tools nothing is a call.
type Reply struct {
	Raw   string
	Tools []chat.Tool
}

// Replies reads replies, one JSON object in each line: {"raw": "…", "tools": […]}, or an exchange
// as /debug shows it with --trace-bodies. Tools are in the form of OpenAI's API or only names,
// because a call is recognised by the name of an offered tool. So `{"raw": "<call>{…}</call>",
// "tools": ["get_weather"]}` is enough. A line may have 16 MB, since exchanges contain whole
// prompts. It fails if there is no reply, or if a line cannot be read; the error names the line.
func Replies(in io.Reader) ([]Reply, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	var out []Reply
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		r, err := readReply(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("no replies: each line is an object with the member raw")
	}
	return out, nil
}

// readReply reads one line, and fails if it has no text or a malformed tool. Of an exchange it uses
// the first generation, since later ones answer what this program asked. It uses only text, because
// tags are not searched in reasoning that the server has separated.
func readReply(line []byte) (Reply, error) {
	var wire struct {
		Raw   string
		Tools []json.RawMessage
		Wrote []struct{ Parts []struct{ Kind, Text string } }
	}
	if err := json.Unmarshal(line, &wire); err != nil {
		return Reply{}, err
	}
	r := Reply{Raw: wire.Raw}
	for _, generation := range wire.Wrote[:min(len(wire.Wrote), 1)] {
		for _, part := range generation.Parts {
			if part.Kind == "text" {
				r.Raw += part.Text
			}
		}
	}
	if r.Raw == "" {
		return Reply{}, errors.New(
			`it has no member raw, and no "wrote" with text as an exchange has`)
	}
	for _, raw := range wire.Tools {
		var name string
		var tool struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
		if json.Unmarshal(raw, &name) != nil && json.Unmarshal(raw, &tool) != nil {
			return Reply{}, fmt.Errorf("a tool is a name or an object with function, not %s", raw)
		}
		if name == "" {
			name = tool.Function.Name
		}
		r.Tools = append(r.Tools, chat.Tool{Name: name, Schema: tool.Function.Parameters})
	}
	return r, nil
}

// Learn returns a family's file made from the replies of a model. The file refers to the known
// family that reads most replies. For replies that this family does not read, it has lines of its
// own that declare a form of call. Each question is a sentence about something that the replies
// cannot decide: for example, of two ways of writing a call, one may be a mistake. The parameter
// name becomes the name of the family and the beginning of the models' names; the author may
// correct both. Learn fails if it finds no call that a declaration can describe, or if the lines
// are not a valid declaration.
func Learn(name string, set *adapters.Set, replies []Reply) (
	file string, questions []string, err error) {
	lines := fmt.Sprintf(
		"# Learned from %d replies; to be read by someone who knows the model.\nformat  %s\nmodels  %s*\n", len(replies), name, name)
	best, unread := bestReader(set, replies)
	if best != nil {
		lines += "like    " + best.Name + "\n"
	}
	calls := map[string]int{}
	var open []Reply
	for _, r := range unread {
		if line, ok := derive.CallLine(r.Raw, r.Tools); ok && reads(set, line, r) {
			calls[line]++
		} else {
			open = append(open, r)
		}
	}
	for len(open) > 0 {
		line, read := constantLine(set, open)
		if len(read) == 0 {
			break
		}
		calls[line] += len(read)
		open = slices.DeleteFunc(open, func(r Reply) bool {
			return slices.ContainsFunc(read, func(o Reply) bool { return o.Raw == r.Raw })
		})
	}
	for _, r := range open {
		questions = append(questions, fmt.Sprintf(
			"is this a call? It names a tool, and no declaration that reads it was found: %q",
			clip.Dots(r.Raw, 160)))
	}
	for i, line := range byCount(calls) {
		lines += line
		if i > 0 {
			questions = append(questions, fmt.Sprintf(
				"calls are written in more than one way; all are read, the first is printed. Is this one a slip? %s", strings.TrimSpace(line)))
		}
	}
	if best == nil && len(calls) == 0 {
		return "", questions, errors.New(
			"no reply holds a call in a form that a declaration can say")
	}
	f, err := set.Parse([]byte(lines))
	if err != nil {
		return "", questions, fmt.Errorf("%w\n%s", err, lines)
	}
	return lines + learnedCases(f, replies), questions, nil
}

// reads reports whether a family whose only declaration of a call is the given line reads a call in
// a reply.
func reads(set *adapters.Set, line string, r Reply) bool {
	f, err := set.Parse([]byte("format  x\nmodels  x*\n" + line))
	return err == nil && len(callsIn(f, r)) > 0
}

// bestReader returns the family that reads calls in the most replies, or nil if none reads any. It
// also returns the replies that name a tool and in which this family reads no call. A reply that
// names no tool says nothing about calls. Each family is tried with its own tags only, because with
// the tags of all families each would read every call.
func bestReader(set *adapters.Set, replies []Reply) (best *adapters.Format, unread []Reply) {
	most := 0
	for _, f := range set.All() {
		if f.Name == "generic" { // which is all families together
			continue
		}
		n := 0
		for _, r := range replies {
			if len(callsIn(f, r)) > 0 {
				n++
			}
		}
		if n > most {
			best, most = f, n
		}
	}
	for _, r := range replies {
		named := slices.ContainsFunc(r.Tools, func(t chat.Tool) bool {
			return strings.Contains(r.Raw, t.Name)
		})
		if named && (best == nil || len(callsIn(best, r)) == 0) {
			unread = append(unread, r)
		}
	}
	return best, unread
}

// callsIn returns the calls that the given format finds in a reply, without trying other formats as
// well. It returns nil if decoding fails.
func callsIn(f *adapters.Format, r Reply) []chat.Call {
	var c chat.Collector
	for e, err := range f.Decode(golden.Source([]string{r.Raw}, chat.Stop),
		adapters.Options{Tools: r.Tools, Alone: true, Which: adapters.Strict}) {
		if err != nil {
			return nil
		}
		c.Add(e)
	}
	return c.Calls
}

// byCount returns the lines, the most frequent first. Lines with the same count are sorted, so that
// the same replies always give the same file.
func byCount(lines map[string]int) []string {
	var out []string
	for line := range lines {
		out = append(out, line)
	}
	slices.SortFunc(out, func(a, b string) int {
		if lines[a] != lines[b] {
			return lines[b] - lines[a]
		}
		return strings.Compare(a, b)
	})
	return out
}

// learnedCases returns those replies in which the format reads a call, as test cases. They are for
// the author of the family's file: if an edited file no longer reads what the model really wrote, a
// case fails. It returns "" if the tools that all cases use cannot be read.
func learnedCases(f *adapters.Format, replies []Reply) (s string) {
	tools, err := golden.Tools()
	if err != nil {
		return ""
	}
	for i, r := range replies {
		if c, calls := asCase(f, tools, fmt.Sprintf("reply %d", i+1), r.Raw); calls > 0 {
			s += c
		}
	}
	return s
}
