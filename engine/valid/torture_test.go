package valid

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/heavy"
	"toolnorm/internal/test/must"
)

const tortureFile = "testdata/torture.txt"

// hard is one schema of the torture set.
type hard struct {
	name, schema   string
	valid, invalid []string
	dropped        string // what the constraint of a call does not hold
	reported       string // what the validator says of sloppy spellings that reading could not put right
}

// torture reads the set.
func torture(t *testing.T) []*hard {
	t.Helper()
	src := must.Read(t, tortureFile)
	sections, err := golden.Sections(src)
	must.OK(t, err)
	var all []*hard
	for _, s := range sections {
		name, part, _ := strings.Cut(s.Name, ": ")
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &hard{name: name})
		}
		h := all[len(all)-1]
		switch lines := strings.Split(strings.TrimSpace(s.Text), "\n"); part {
		case "schema":
			h.schema = s.Text
		case "valid":
			h.valid = lines
		case "invalid":
			h.invalid = lines
		case "dropped":
			h.dropped = strings.TrimSpace(s.Text)
		case "reported":
			h.reported = strings.TrimSpace(s.Text)
		default:
			t.Fatalf("no part %q", s.Name)
		}
	}
	return all
}

// compiled is the validator of a schema that is one.
func compiled(t *testing.T, text []byte) *Validator {
	t.Helper()
	v, err := compile(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestTheTortureSetIsLargeEnough(t *testing.T) {
	all := torture(t)
	for _, h := range all {
		if len(h.valid) < 2 || len(h.invalid) < 2 {
			t.Errorf("%s: %d valid and %d invalid instances", h.name, len(h.valid), len(h.invalid))
		}
	}
	if len(all) < 60 {
		t.Errorf("%d schemas", len(all))
	}
}

func TestTheValidatorTellsValidFromInvalid(t *testing.T) {
	for _, h := range torture(t) {
		v := compiled(t, []byte(h.schema))
		for _, args := range h.valid {
			if got := v.Check([]byte(args)); got != nil {
				t.Errorf("%s: %s: %v", h.name, args, got)
			}
		}
		for _, args := range h.invalid {
			if got := v.Check([]byte(args)); got == nil || !strings.HasPrefix(got[0].Text, "arguments") {
				t.Errorf("%s: %s: %v", h.name, args, got)
			}
		}
	}
}

// constraints are those of a call, full and weak.
func constraints(h *hard) map[string]schema.Constraint {
	tools := []chat.Tool{{Name: "f", Schema: json.RawMessage(h.schema)}}
	return map[string]schema.Constraint{
		"call": schema.ConstrainCalls(tools, schema.Options{}),
		"weak": schema.ConstrainCalls(tools, schema.Options{Weak: true}),
	}
}

func TestConstraintsTakeWhatFitsTheOriginalAndSayWhatTheyDrop(t *testing.T) {
	for _, h := range torture(t) {
		for kind, c := range constraints(h) {
			v := compiled(t, c.Schema)
			instance := func(args string) []byte { return []byte(`{"name":"f","arguments":` + args + `}`) }
			for _, args := range h.valid {
				if got := v.Check(instance(args)); got != nil {
					t.Errorf("%s, %s: %s: %v\n%s", h.name, kind, args, got, c.Schema)
				}
			}
			for _, args := range h.invalid {
				if v.Check(instance(args)) == nil && len(c.Dropped) == 0 {
					t.Errorf("%s, %s: takes %s, and nothing is said to be dropped\n%s", h.name, kind, args, c.Schema)
				}
			}
		}
	}
}

func TestWhatIsDroppedAndReportedIsKnown(t *testing.T) {
	src := must.Read(t, tortureFile)
	head, _, _ := strings.Cut(string(src), "-- ")
	var b strings.Builder
	b.WriteString(head)
	for _, h := range torture(t) {
		dropped, reported := listed(constraints(h)["call"].Dropped), strings.Join(readSloppily(t, h), "\n")
		if dropped != h.dropped && !*must.Update {
			t.Errorf("%s: dropped\n%s\nwant\n%s", h.name, dropped, h.dropped)
		}
		if reported != h.reported && !*must.Update {
			t.Errorf("%s: reported\n%s\nwant\n%s", h.name, reported, h.reported)
		}
		for _, s := range []golden.Section{{Name: "schema", Text: h.schema}, {Name: "valid", Text: strings.Join(h.valid, "\n")},
			{Name: "invalid", Text: strings.Join(h.invalid, "\n")}, {Name: "dropped", Text: dropped}, {Name: "reported", Text: reported}} {
			if s.Text != "" {
				b.WriteString("-- " + h.name + ": " + s.Name + " --\n" + s.Text + "\n")
			}
		}
	}
	if *must.Update {
		must.Write(t, tortureFile, b.String())
	}
}

// steps are the names of a value's members, or the numbers of its elements; nil for a value that
// has neither.
func steps(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		return slices.Sorted(maps.Keys(v))
	case []any:
		for i := range v {
			all = append(all, strconv.Itoa(i))
		}
	}
	return all
}

// sloppy spells a value as models do: in Python's words, or with every number and word in quotes.
func sloppy(v any, quoted bool) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, k := range steps(v) {
			parts = append(parts, schema.Quote(k)+": "+sloppy(v[k], quoted))
		}
		return "{" + strings.Join(parts, ", ") + ",}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, sloppy(e, quoted))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return schema.Quote(v)
	case bool, nil:
		word := map[any]string{true: "True", false: "False", nil: "None"}[v]
		if quoted {
			return `"` + strings.Replace(strings.ToLower(word), "none", "null", 1) + `"`
		}
		return word
	}
	if quoted {
		return `"` + display(v) + `"`
	}
	return display(v)
}

// readSloppily reads sloppy spellings of the valid instances, and says what did not become valid.
func readSloppily(t *testing.T, h *hard) (reported []string) {
	v, typ := compiled(t, []byte(h.schema)), schema.Compile(json.RawMessage(h.schema))
	for _, args := range h.valid {
		doc, err := parse([]byte(args))
		must.OK(t, err)
		for _, quoted := range []bool{false, true} {
			text := sloppy(doc.value, quoted)
			out, _, err := adapters.Repair(text, typ)
			if err != nil {
				t.Errorf("%s: %s: %v", h.name, text, err)
				continue
			}
			for _, p := range v.Check([]byte(out)) {
				reported = append(reported, text+" is "+p.Text)
			}
		}
	}
	return reported
}

// TestConstraintsGoOnWithWhatStands lets the first members of valid arguments stand, and has the
// others written anew: the constraint of those takes the whole.
func TestConstraintsGoOnWithWhatStands(t *testing.T) {
	for _, h := range torture(t) {
		tools := []chat.Tool{{Name: "f", Schema: json.RawMessage(h.schema)}}
		for _, args := range h.valid {
			doc, err := parse([]byte(args))
			if err != nil || args[0] != '{' {
				continue
			}
			for n := range len(doc.inside) + 1 {
				stands := &schema.Standing{More: true}
				for i, m := range doc.inside {
					p := schema.Part{Name: m.name}
					if i < n {
						p.Raw = m.Raw
					}
					stands.Parts = append(stands.Parts, p)
				}
				c := schema.ConstrainCalls(tools, schema.Options{Stands: stands, Weak: n%2 == 1})
				if got := compiled(t, c.Schema).Check([]byte(`{"name":"f","arguments":` + args + `}`)); got != nil {
					t.Errorf("%s: %d members stand of %s: %v\n%s", h.name, n, args, got, c.Schema)
				}
			}
		}
	}
}

// TestCompilingGrowsWithTheSchema compiles each heavy schema in two sizes: four times as much may
// take about four times the work. What hangs on a pattern that Go cannot read was once looked for
// from every place anew.
func TestCompilingGrowsWithTheSchema(t *testing.T) {
	work := func(raw json.RawMessage) uint64 {
		return heavy.Allocated(func() {
			v, err := new(Cache).Get(raw)
			if err == nil {
				v.Check([]byte(`{"a":"x"}`))
			}
		})
	}
	for _, name := range []string{"allOf", "joined", "anyOf", "enum", "required", "nots", "laughs of properties", "laughs of anyOf", "shared enum"} {
		make := heavy.Schemas[name]
		small, large := work(make(100)), work(make(400))
		if large > 7*small {
			t.Errorf("%s: %d bytes are allocated for a size of 100, %d for four times that", name, small, large)
		}
	}
}

// listed are drops, one a line.
func listed(dropped []schema.Dropped) string {
	var lines []string
	for _, d := range dropped {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}
