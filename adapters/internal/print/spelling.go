package print

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Spelling defines how the values in a call's body are written. Most fields are fixed texts, but
// keys and strings have functions. The printer and the grammar use the same Spelling, so that they
// always agree.
//
//	JSON      {"tags": ["a"], "fast": true, "n": null}
//	Python    {'tags': ['a'], 'fast': True, 'n': None}
//	Pseudo    {fast:true,n:None,tags:[<|"|>a<|"|>]}
//	Tree      <tags><item>a</item></tags><fast>true</fast>
//	keywords  tags=["a"], fast=True, n=None
//	tags      <parameter=tags>["a"]</parameter><parameter=fast>True</parameter>
//
// The last two lines are spellings for the arguments of a call only. The values of these arguments
// are written in another spelling, which depends on the kind of the value.
type Spelling struct {
	Name              string   // for the names of the grammar's rules
	Brackets                   // of an object
	Tail, None        string   // after the last member; in place of all members, if there are none
	List              Brackets // of a list; of an empty one only if objects have brackets too
	True, False, Null string
	Quotes            []string // of strings, the first one is printed; none for raw text
	Avoid             []string // texts that a string without escapes cannot contain
	BareKeys          bool     // keys have no quotes, so unlisted ones can only be identifiers
	Sorted            bool     // members are printed by name
	// NoNull means that members that are null are not printed, and only listed members are allowed.
	NoNull bool

	CDATA bool // a string may be in CDATA

	// of returns the spelling of a member's value of that kind. If it is nil, the spelling is the
	// same.
	of func(schema.Kinds) *Spelling
	// word returns the text before a member's value that gives its kind. If it is nil, there is
	// none.
	word func(schema.Kinds) string
	// key appends a member's name, given as JSON, and the text before its value.
	key  func(dst []byte, quoted string) []byte
	end  func(dst []byte, quoted string) []byte // appends the text after the value; may be nil
	text func(dst []byte, quoted string) []byte // appends a string, given as JSON
}

// Brackets are the texts before, between and after members or elements, such as brackets and
// commas.
type Brackets struct{ Open, Comma, Close string }

// JSON is what json.dumps(ensure_ascii=False) prints, as in {"city": "São Paulo", "days": [1, 2]}.
// Nearly all templates print it. Only Reka's escapes characters outside of ASCII.
var JSON = &Spelling{
	Name: "json", Brackets: Brackets{"{", ", ", "}"}, List: Brackets{"[", ", ", "]"},
	True: "true", False: "false", Null: "null", Quotes: []string{`"`},
	key: func(dst []byte, quoted string) []byte {
		return append(appendString(dst, quoted), ": "...)
	},
	text: appendString,
}

// Python is what Python's repr prints, as in {'city': "it's", 'fast': True}. Templates that print a
// value without a filter use it. seed-oss and minicpm5 use it for lists and objects in tags.
var Python = &Spelling{
	Name: "python", Brackets: Brackets{"{", ", ", "}"}, List: Brackets{"[", ", ", "]"},
	True: "True", False: "False", Null: "None", Quotes: []string{`'`, `"`},
	key: func(dst []byte, quoted string) []byte {
		return append(appendRepr(dst, quoted), ": "...)
	},
	text: appendRepr,
}

// Pseudo returns the spelling of JSON with bare, sorted keys and the text quote around strings, as
// in gemma4's {city:<|"|>Paris<|"|>,days:3}. Gemma 4's template sorts with dictsort, which ignores
// case. It prints null as None, as Jinja does without a filter.
func Pseudo(quote string) *Spelling {
	return &Spelling{
		Name: "pseudo", Brackets: Brackets{"{", ",", "}"}, List: Brackets{"[", ",", "]"},
		True: "true", False: "false", Null: "None",
		Quotes: []string{quote}, Avoid: []string{quote}, BareKeys: true, Sorted: true,
		key: func(dst []byte, quoted string) []byte {
			return append(append(dst, scan.Unquote(quoted)...), ':')
		},
		text: func(dst []byte, quoted string) []byte {
			return append(append(append(dst, quote...), scan.Unquote(quoted)...), quote...)
		},
	}
}

// Tree returns the spelling with nested tags that are named like the members, as in minimax-m3's
// <items><item><sku>A</sku></item></items>. It has no brackets and no word for null, so a member
// that is null is left out. An empty string, an empty list, an empty object and a null in a list
// look the same.
func Tree(p *declaration.Pattern) *Spelling {
	open, end := p.OpenTag(declaration.ItemKey), p.CloseTag(declaration.ItemKey)
	return &Spelling{
		Name: "tree", List: Brackets{open, end + open, end},
		True: "true", False: "false", Avoid: p.Family.ValueEnds, NoNull: true,
		key: func(dst []byte, quoted string) []byte {
			return append(dst, p.OpenTag(scan.Unquote(quoted))...)
		},
		end: func(dst []byte, quoted string) []byte {
			return append(dst, p.CloseTag(scan.Unquote(quoted))...)
		},
		text: appendRaw,
	}
}

// raw returns the spelling of a string in a tag. It has neither quotation marks nor escapes, so a
// file in an argument is exactly the text between the tags. Whoever reads such a value needs the
// tool's schema to distinguish the text 7 from the number.
func raw(f *declaration.Family) *Spelling {
	s := &Spelling{Name: "raw", Avoid: f.ValueEnds, CDATA: f.Flags.CDATA, text: appendRaw}
	if s.CDATA {
		// otherwise the reader would take a bare text for CDATA
		s.Avoid = append(slices.Clip(s.Avoid), declaration.CDATAOpen)
		s.text = appendCDATA
	}
	return s
}

// Arguments returns the spelling of the arguments in placeholder i of the example of a call. It is
// JSON unless the name of the placeholder, such as {args} or {python}, or the family's layout
// demands another.
func Arguments(p *declaration.Pattern, i int) *Spelling {
	switch f := p.Family; p.PlaceholderAt(i) {
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

// keywords returns the spelling of a call's arguments in Python, as in city="Paris", days=3. Keys
// are unchanged, even those that Python would refuse, because the reader accepts them, and a model
// that knows the schema expects them. Values in one call may be written in different ways: LFM2.5
// writes an object as JSON and a list as Python source.
func keywords(f *declaration.Family) *Spelling {
	return &Spelling{
		Name: "keywords", Brackets: Brackets{Comma: ", "}, BareKeys: true,
		of: func(kind schema.Kinds) *Spelling { return keyword(f, kind) },
		key: func(dst []byte, quoted string) []byte {
			return append(append(dst, scan.Unquote(quoted)...), '=')
		},
	}
}

// tags returns the spelling of arguments in tags, as the family's first arg line shows it. If
// {args} is on a line of its own in the call's example, each argument is on its own line as well.
// So qwen3-coder's <parameter=…> blocks have a newline between them, and GLM-4.7's tags do not. A
// newline after {args} belongs to the last argument. Without arguments only the newline before
// {args} is printed, unless the family prints both. A tag may give the type between key and value:
// deepseek has string="true" before a text, and string="false" before JSON.
//
//	<parameter=city>\nParis\n</parameter>                            qwen3-coder
//	<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>    deepseek
//	<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>            glm4
func tags(p *declaration.Pattern, i int) *Spelling {
	f, arg := p.Family, p.Family.Args[0]
	s := &Spelling{
		Name: "tags", BareKeys: true, NoNull: arg.Keyed(),
		of: func(kind schema.Kinds) *Spelling { return tagSpelling(f, kind) },
		key: func(dst []byte, quoted string) []byte {
			return append(dst, arg.OpenTag(attribute(f, scan.Unquote(quoted)))...)
		},
		end: func(dst []byte, quoted string) []byte {
			return append(dst, arg.CloseTag(scan.Unquote(quoted))...)
		},
	}
	if arg.PlaceholderAt(3) == "type" {
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

// Objects returns the spelling of calls that are whole objects, {"name": …}, with everything in
// them. It is Python for families such as sarashina, whose template prints the list of calls
// without a filter, so that even names have Python's quotation marks. For all other families it is
// JSON.
func Objects(f *declaration.Family) *Spelling {
	if f.Layout.Words == declaration.PythonObjects {
		return Python
	}
	return JSON
}

// keyword returns the spelling of a keyword argument's value in a Python call, for a value of the
// given kind. Objects are JSON, as LFM2.5 writes them. Strings are JSON as olmo3's template writes
// them, unless the family's declaration has a quote line. Any other value, such as a list, is
// Python source, as Jinja prints it without a filter.
func keyword(f *declaration.Family, kind schema.Kinds) *Spelling {
	if kind == schema.Object || kind == schema.String && len(f.Quotes) == 0 {
		return JSON
	}
	return Python
}

// tagSpelling returns the way in which values of the given kind are written between tags. Strings
// are raw text. All other values are JSON or, if the template prints them without a filter, Python.
// The templates of qwen3-coder, Nemotron 3 and Step 3.5 print scalars without a filter (True), and
// objects and lists with tojson. GLM and MiniMax print JSON's words.
func tagSpelling(f *declaration.Family, kind schema.Kinds) *Spelling {
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

// ByKind reports whether values of different kinds, such as strings and numbers, are written in
// different ways in this spelling.
func (s *Spelling) ByKind() bool { return s.of != nil }

// For returns the spelling in which s writes a value of the given kind. This is s itself unless the
// spelling depends on the kind, as between tags, where a string is raw text and an object is JSON.
func (s *Spelling) For(kind schema.Kinds) *Spelling {
	if s.of == nil {
		return s
	}
	return s.of(kind)
}

// Type returns the text that is written before a value of the given kind to say which kind it is,
// such as string="false"> in deepseek's tags. It returns "" if this spelling has no such text.
func (s *Spelling) Type(kind schema.Kinds) string {
	if s.word == nil {
		return ""
	}
	return s.word(kind)
}

// Untyped reports whether values in this spelling do not show whether they are strings, because
// they have neither quotation marks nor a word for their type.
func (s *Spelling) Untyped() bool { return s.word == nil && len(s.For(schema.String).Quotes) == 0 }

// Key returns a member's name with the text before its value, such as "city": in JSON.
func (s *Spelling) Key(key string) string { return string(s.key(nil, schema.Quote(key))) }

// End returns the text after the value of a member. It is "" except where members are tags, such as
// </city>.
func (s *Spelling) End(key string) string {
	if s.end == nil {
		return ""
	}
	return string(s.end(nil, schema.Quote(key)))
}

// Value returns a JSON value as this spelling writes it.
func (s *Spelling) Value(value string) string { return string(s.Append(nil, value)) }

// typeWord returns the text for the placeholder {type} in the example of an argument. If the
// example has string=" before {type}, as deepseek's string="true" has, the text says whether the
// value is a string. Otherwise it is the name of the type, as in kimi-k3's type="number". Integers
// are "number", because kimi-k3 has no other word for them.
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

// attribute returns a parameter's name as it is written in a tag. In kimi-k3's tags, special
// characters are escaped as in XML. In other families &amp; would be read as part of the name.
func attribute(f *declaration.Family, key string) string {
	if f.Flags.Entities {
		return entities.Replace(key)
	}
	return key
}

// entities escapes the characters that must not occur in an attribute.
var entities = strings.NewReplacer("&", "&amp;", `"`, "&quot;")

// PythonName returns a tool's name for a Python call. Characters that cannot be part of a name
// become underscores, but the reader still finds the tool.
func PythonName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-._", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' ||
			r >= 'A' && r <= 'Z' || r >= 0x80 {
			return r
		}
		return '_'
	}, name)
}
