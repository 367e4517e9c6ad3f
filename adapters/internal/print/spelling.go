package print

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Spelling is how the values in a call's body are written. The fields are text that the grammar
// quotes as it stands; what cannot be a fixed text, keys and strings, has a function. One value of
// this type is enough for the writer and the grammar, so the two cannot come apart.
//
//	JSON      {"tags": ["a"], "fast": true, "n": null}
//	Python    {'tags': ['a'], 'fast': True, 'n': None}
//	Pseudo    {fast:true,n:None,tags:[<|"|>a<|"|>]}
//	Tree      <tags><item>a</item></tags><fast>true</fast>
//	keywords  tags=["a"], fast=True, n=None
//	tags      <parameter=tags>["a"]</parameter><parameter=fast>True</parameter>
//
// The last two are for the arguments of a call alone: what stands in their members has another
// spelling, by its kind.
type Spelling struct {
	Name              string   // of the grammar's rules
	Brackets                   // of an object
	Tail, None        string   // behind the last member, and in the place of all
	List              Brackets // of a list; around none only if objects have brackets, too
	True, False, Null string
	Quotes            []string // what a string may stand in, the first one printed; none: it is raw
	Avoid             []string // what ends a string without escapes, so that it cannot stand in one
	BareKeys          bool     // keys have no quotes, so those that no schema names can only be identifiers
	Sorted            bool     // members are printed by name
	NoNull            bool     // members that are null are not printed, and there are none but the schema's

	CDATA bool // a string may stand in CDATA

	of   func(schema.Kinds) *Spelling           // how a member's value is written that is of that kind; nil: as all of it
	word func(schema.Kinds) string              // what in front of a member's value says its kind; nil: nothing does
	key  func(dst []byte, quoted string) []byte // a member's name, given as JSON, and what stands in front of its value
	end  func(dst []byte, quoted string) []byte // what stands behind the value; nil: nothing
	text func(dst []byte, quoted string) []byte // a string, given as JSON
}

// Brackets are what stands around and between members or elements.
type Brackets struct{ Open, Comma, Close string }

// JSON is what json.dumps(ensure_ascii=False) prints: {"city": "São Paulo", "days": [1, 2]}.
// Nearly all templates print it so; Reka's alone escapes what is not ASCII.
var JSON = &Spelling{
	Name: "json", Brackets: Brackets{"{", ", ", "}"}, List: Brackets{"[", ", ", "]"},
	True: "true", False: "false", Null: "null", Quotes: []string{`"`},
	key:  func(dst []byte, quoted string) []byte { return append(appendString(dst, quoted), ": "...) },
	text: appendString,
}

// Python is what repr prints: {'city': "it's", 'fast': True}. Templates that print a value without
// a filter have it. In tags seed-oss and minicpm5 have whole lists and objects of it.
var Python = &Spelling{
	Name: "python", Brackets: Brackets{"{", ", ", "}"}, List: Brackets{"[", ", ", "]"},
	True: "True", False: "False", Null: "None", Quotes: []string{`'`, `"`},
	key:  func(dst []byte, quoted string) []byte { return append(appendRepr(dst, quoted), ": "...) },
	text: appendRepr,
}

// Pseudo returns the spelling that is JSON with bare keys, sorted, and a delimiter of the family's
// own around strings: gemma4's {city:<|"|>Paris<|"|>,days:3}. Its template sorts with dictsort,
// which ignores case, and has no word for null, so None is what Jinja prints.
func Pseudo(quote string) *Spelling {
	return &Spelling{
		Name: "pseudo", Brackets: Brackets{"{", ",", "}"}, List: Brackets{"[", ",", "]"},
		True: "true", False: "false", Null: "None",
		Quotes: []string{quote}, Avoid: []string{quote}, BareKeys: true, Sorted: true,
		key: func(dst []byte, quoted string) []byte { return append(append(dst, scan.Unquote(quoted)...), ':') },
		text: func(dst []byte, quoted string) []byte {
			return append(append(append(dst, quote...), scan.Unquote(quoted)...), quote...)
		},
	}
}

// Tree returns the spelling with tags that are named like the members, and nest: minimax-m3's
// <items><item><sku>A</sku></item></items>. It has no brackets, so an object is its members, and no
// word for null, so a member that is null is left out. So an empty string, an empty list, an empty
// object and a null in a list look alike.
func Tree(p *declaration.Pattern) *Spelling {
	open, end := p.OpenTag(declaration.ItemKey), p.CloseTag(declaration.ItemKey)
	return &Spelling{
		Name: "tree", List: Brackets{open, end + open, end},
		True: "true", False: "false", Avoid: p.Family.ValueEnds, NoNull: true,
		key:  func(dst []byte, quoted string) []byte { return append(dst, p.OpenTag(scan.Unquote(quoted))...) },
		end:  func(dst []byte, quoted string) []byte { return append(dst, p.CloseTag(scan.Unquote(quoted))...) },
		text: appendRaw,
	}
}

// raw returns the spelling of a string in a tag, without quotes and escapes: a file in an argument
// is exactly the text between the tags. Only the tool's schema tells the text 7 from the number
// then, in reading as in the grammar.
func raw(f *declaration.Family) *Spelling {
	s := &Spelling{Name: "raw", Avoid: f.ValueEnds, CDATA: f.Flags.CDATA, text: appendRaw}
	if s.CDATA {
		s.Avoid = append(slices.Clip(s.Avoid), declaration.CDATAOpen) // or a bare text would be unwrapped
		s.text = appendCDATA
	}
	return s
}

// Arguments returns how the arguments of a call are written in hole i of its example. apertus's
// {named} and the object of a {call} hold them as JSON does, the latter in the words of the object
// around.
func Arguments(p *declaration.Pattern, i int) *Spelling {
	switch f := p.Family; p.HoleAt(i) {
	case "args":
		return tags(p, i)
	case "call", "calls":
		return Objects(f)
	case "pseudo":
		return Pseudo(f.Quotes[0])
	case "python":
		return keywords(f)
	}
	return JSON
}

// keywords returns the spelling of arguments in Python: city="Paris", days=3. Keys are written as
// they are, even those that Python would refuse: the reader takes them, and a model that knows the
// schema expects them. Values of one call may be spelled in two ways: LFM2.5 writes an object as
// JSON and a list as Python source.
func keywords(f *declaration.Family) *Spelling {
	return &Spelling{
		Name: "keywords", Brackets: Brackets{Comma: ", "}, BareKeys: true,
		of:  func(kind schema.Kinds) *Spelling { return keyword(f, kind) },
		key: func(dst []byte, quoted string) []byte { return append(append(dst, scan.Unquote(quoted)...), '=') },
	}
}

// tags returns the spelling of arguments in the family's first arg line. They are on lines of their
// own where the call's example has {args} on one: qwen3-coder's <parameter=…> blocks have a newline
// between them, GLM-4.7's tags have nothing. A newline after {args} goes with the last of them:
// without arguments there is only the one before, unless the family keeps both. A tag may give the
// type between key and value: deepseek's string="true" before a text, string="false" before JSON.
//
//	<parameter=city>\nParis\n</parameter>                            qwen3-coder
//	<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>    deepseek
//	<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>            glm4
func tags(p *declaration.Pattern, i int) *Spelling {
	f, arg := p.Family, p.Family.Args[0]
	s := &Spelling{
		Name: "tags", BareKeys: true, NoNull: arg.Keyed(),
		of: func(kind schema.Kinds) *Spelling { return tagged(f, kind) },
		key: func(dst []byte, quoted string) []byte {
			return append(dst, arg.OpenTag(attribute(f, scan.Unquote(quoted)))...)
		},
		end: func(dst []byte, quoted string) []byte { return append(dst, arg.CloseTag(scan.Unquote(quoted))...) },
	}
	if arg.HoleAt(3) == "type" {
		s.word = func(kind schema.Kinds) string { return typeWord(arg, kind) + arg.Printed(4) }
	}
	if p.OnLines(i) {
		s.Comma = "\n"
	}
	if p.ClosesOnLine(i) {
		s.Tail = "\n"
	}
	if !p.OnLines(i) || f.Layout.EmptyLines {
		s.None = s.Tail
	}
	return s
}

// Objects returns how a family spells whole calls, {"name": …}, and what they contain: sarashina's
// template prints the list of calls without a filter, so Python's quotes are around names, too.
func Objects(f *declaration.Family) *Spelling {
	if f.Layout.Words == declaration.PythonObjects {
		return Python
	}
	return JSON
}

// keyword returns how a family spells the value of a keyword in a Python call. An object stays
// JSON, as LFM2.5 writes it, and so does a string, unless the family has a quote line that says
// otherwise: olmo3's template uses the JSON filter. A list is Python source beside it, as Jinja
// prints a list without a filter.
func keyword(f *declaration.Family, kind schema.Kinds) *Spelling {
	if kind == schema.Object || kind == schema.String && len(f.Quotes) == 0 {
		return JSON
	}
	return Python
}

// tagged returns how a family spells the value of an argument between tags: strings raw, everything
// else as JSON or, where the template prints it without a filter, as Python. qwen3-coder's template
// prints scalars without a filter (True) and objects and lists with tojson. GLM and MiniMax print
// the words of JSON there; Nemotron 3 and Step 3.5 do as qwen3-coder.
func tagged(f *declaration.Family, kind schema.Kinds) *Spelling {
	scalar := kind&(schema.Object|schema.Array) == 0
	switch words := f.Layout.Words; {
	case f.Args[0].Keyed():
		return Tree(f.Args[0])
	case kind == schema.String:
		return raw(f)
	case words == declaration.PythonObjects, words == declaration.PythonScalars && scalar:
		return Python
	}
	return JSON
}

// ByKind reports whether the spelling of a member's value depends on its kind.
func (s *Spelling) ByKind() bool { return s.of != nil }

// For returns how a member's value of that kind is spelled.
func (s *Spelling) For(kind schema.Kinds) *Spelling {
	if s.of == nil {
		return s
	}
	return s.of(kind)
}

// Type returns what is written before a member's value to give its kind: string="false"> of
// deepseek's tags. It is empty where the spelling does not give the kind.
func (s *Spelling) Type(kind schema.Kinds) string {
	if s.word == nil {
		return ""
	}
	return s.word(kind)
}

// Untyped reports whether nothing tells a member's value that is a string from one that is not: no
// quotes and no word.
func (s *Spelling) Untyped() bool { return s.word == nil && len(s.For(schema.String).Quotes) == 0 }

// Key returns a member's name and what is written before its value, as the grammar quotes it.
func (s *Spelling) Key(key string) string { return string(s.key(nil, schema.Quote(key))) }

// End returns what follows the value of a member, which is empty except where members are tags.
func (s *Spelling) End(key string) string {
	if s.end == nil {
		return ""
	}
	return string(s.end(nil, schema.Quote(key)))
}

// Value returns a JSON value in the spelling.
func (s *Spelling) Value(value string) string { return string(s.Append(nil, value)) }

// typeWord returns what the {type} hole of an argument's example prints for a kind: whether it is a
// string, where the mark before it asks that (deepseek's string="true"), or the kind's name
// (kimi-k3's type="number"). Whole numbers are numbers there, as kimi-k3 knows no other word for
// them.
func typeWord(arg *declaration.Pattern, kind schema.Kinds) string {
	if strings.HasSuffix(arg.Parts[2].Lit.Text, `string="`) {
		if kind == schema.String {
			return "true"
		}
		return "false"
	}
	for _, k := range kinds {
		if kind == k.kind {
			return k.word
		}
	}
	return "number"
}

// attribute returns a parameter's name as it is written in a tag. Only kimi-k3's template escapes
// there; elsewhere &amp; would be read as the name's own.
func attribute(f *declaration.Family, key string) string {
	if f.Flags.Entities {
		return entities.Replace(key)
	}
	return key
}

// entities escapes what may not stand in an attribute.
var entities = strings.NewReplacer("&", "&amp;", `"`, "&quot;")

// PythonName returns a tool's name as a Python call can have it: what would not be read as part of
// a name becomes an underscore, and the reader finds the tool all the same.
func PythonName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-._", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 {
			return r
		}
		return '_'
	}, name)
}
