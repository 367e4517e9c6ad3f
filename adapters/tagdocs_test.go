package adapters

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// Documents about calls are the hardest values. Real files about one family's calls are few, so
// these are made by chance: each holds calls in all forms that the family reads, and other
// families' calls, whole or cut anywhere, as they are or in source text, some right behind each
// other.

// callDocs makes documents about the calls of a family.
type callDocs struct {
	*rand.Rand
	f      *Format
	others []*Format
}

// text is a document of a few parts.
func (d *callDocs) text() string {
	var b strings.Builder
	for range 1 + d.Intn(6) {
		switch d.Intn(6) {
		case 0:
			b.WriteString(pick(d.Rand, []string{"Calls look like this.\n", "# How it is written\n\n", "x := 1\n\n", "\n", "if a < b && c > d {\n"}))
		case 1:
			fmt.Fprintf(&b, "\t\t{%q, \"cut\"},\n", d.calls())
		case 2:
			fmt.Fprintf(&b, "See %s here.\n", d.calls())
		default:
			b.WriteString(d.calls() + "\n")
		}
	}
	return b.String()
}

// calls is one call, or two right behind each other, and perhaps not all of them.
func (d *callDocs) calls() string {
	text := d.call()
	if d.Intn(2) == 0 {
		text += pick(d.Rand, []string{"\n", "", "\n\n"}) + d.call()
	}
	switch d.Intn(4) {
	case 0:
		text = text[:d.Intn(len(text))]
	case 1:
		text = text[d.Intn(len(text)):]
	}
	return strings.ToValidUTF8(text, "")
}

// call is a call in one of the family's forms, or of another family.
func (d *callDocs) call() string {
	c := pick(d.Rand, []chat.Call{
		{Name: "run_shell", Args: json.RawMessage(`{"command": "ls"}`)},
		{Name: "get_weather", Args: json.RawMessage(`{"city": "Oslo", "days": 3}`)},
		{Name: "get_time", Args: json.RawMessage(`{}`)},
		{Name: "write_file", Args: json.RawMessage(`{"path": "a.txt", "content": "one\ntwo\n"}`)},
	})
	if d.Intn(3) == 0 {
		return strings.TrimSpace(string(pick(d.Rand, d.others).Append(nil, c)))
	}
	own := strings.TrimSpace(string(d.f.Append(nil, c)))
	p := pick(d.Rand, d.f.Calls)
	if d.Intn(2) == 0 {
		return own
	}
	// the body of another form between this form's marks
	body, _ := json.Marshal(map[string]any{"name": c.Name, "arguments": c.Args})
	if p.Hole("call") < 0 && d.Intn(2) == 0 {
		body = []byte(own)
	}
	last := p.Parts[len(p.Parts)-1].Lit
	return strings.TrimSpace(p.Parts[0].Lit.Plain() + "\n" + string(body) + "\n" + last.Plain())
}

// pick is one of a list.
func pick[T any](r *rand.Rand, list []T) T { return list[r.Intn(len(list))] }

func TestDocumentsAboutCallsComeBack(t *testing.T) {
	r := rand.New(rand.NewSource(int64(number("TAG_SEED", 1))))
	most := number("TAG_DOCS", 60)
	if testing.Short() {
		most = 4
	}
	all, lost, bad := 0, 0, 0
	for _, f := range tagFamilies() {
		d := &callDocs{r, f, All()}
		right, none, wrong := 0, 0, 0
		for range most {
			text := d.text()
			call := chat.Call{Name: "save"}
			args := map[string]string{"content": text}
			if r.Intn(2) == 0 {
				call.Name, args["path"] = "write_file", "a/b.txt"
			}
			call.Args, _ = json.Marshal(args)
			raw := string(f.Append(nil, call))
			class := tripOf(t, f, []string{raw}, call)
			if cut := tripOf(t, f, golden.Random(raw, r), call); cut != class {
				t.Errorf("%s: cut otherwise the text is read otherwise: %q", f.Name, raw)
			}
			switch class {
			case asMeant:
				right++
			case noCall:
				none++
			default:
				wrong++
				t.Logf("%s: another value was read: %q", f.Name, raw)
				if dir := os.Getenv("TAG_SHOW"); dir != "" {
					_ = os.WriteFile(filepath.Join(dir, f.Name+"-doc-"+strconv.Itoa(wrong)), []byte(raw), 0o600)
				}
			}
		}
		t.Logf("%-16s %4d right %4d no call %4d wrong", f.Name, right, none, wrong)
		all, lost, bad = all+right+none+wrong, lost+none, bad+wrong
	}
	t.Logf("all %d, no call %d, wrong %d", all, lost, bad)
	// What is left are halves of calls that belong to each other by chance.
	if bad > 1+all/300 {
		t.Errorf("of %d calls %d gave another value", all, bad)
	}
}
