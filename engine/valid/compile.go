package valid

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolnorm/chat/schema"
)

// The limits on a schema.
const (
	maxSchema = 1 << 20 // bytes
	maxPlaces = 10_000  // values in it; the library needs quadratic time to compile them
)

// home is the base URL of every schema, so that relative references have a base. Nothing is ever
// read from there. It appears only in the library's errors, and is removed from these.
const home = "tool:///"

// Validator checks arguments against one schema. It is safe for concurrent use, because the
// compiled schema is only read.
type Validator struct {
	root   *jsonschema.Schema
	places map[string]*jsonschema.Schema // by the names that errors use
	// how many places of the schema apply, at most, to a value at each depth; see workOf
	work []float64
}

// compile returns the validator of a schema, or a *SchemaError if the schema is too large or
// invalid. The limits are checked before the library sees the schema. Schemas of clients and of
// remote MCP servers have already passed a tighter limit (schema.Affordable), but others come here
// unchecked.
func compile(text []byte) (*Validator, error) {
	if t := bytes.TrimSpace(text); len(t) == 0 || string(t) == "null" {
		text = []byte(`{"type":"object"}`)
	}
	if len(text) > maxSchema {
		return nil, &SchemaError{Text: fmt.Sprintf("larger than %d bytes", maxSchema)}
	}
	doc, err := parse(text)
	if err != nil {
		return nil, &SchemaError{Text: err.Error()}
	}
	// Every value counts, also those of enums and descriptions, as the parser does not know what is
	// a schema.
	places := 0
	for _, n := range doc.levels {
		places += n
	}
	if places > maxPlaces {
		return nil, &SchemaError{Text: fmt.Sprintf("holds more than %d values", maxPlaces)}
	}
	modern(doc.value)
	return compileDocument(doc.value)
}

// compileDocument compiles a JSON schema, which the function modern has updated, to a Validator. A
// schema without a $schema is read as draft 2020-12. Formats such as "date" are checked, although
// the drafts since 2019-09 do not demand that, because the author of a parameter with
// "format": "date" has a tool that parses a date. compileDocument returns a *SchemaError if the
// schema is not valid, or refers to itself without end.
func compileDocument(doc any) (*Validator, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	// Without this call a format would be an annotation.
	c.AssertFormat()
	c.UseLoader(nowhere{})
	c.UseRegexpEngine(newPattern)
	if err := c.AddResource(home+"schema", doc); err != nil {
		return nil, &SchemaError{Text: err.Error()}
	}
	root, err := c.Compile(home + "schema")
	if err != nil {
		return nil, explain(err)
	}
	all := graph(root)
	if loosen(all) {
		all = graph(root) // removed parts cost no work
	}
	v := &Validator{root: root, places: map[string]*jsonschema.Schema{}}
	for _, p := range all {
		// Errors name a schema by its location; marks look it up to know its bounds and its
		// members.
		v.places[p.Location] = p.Schema
		if p.PropertyNames != nil {
			p.Extensions, p.PropertyNames = []jsonschema.SchemaExt{nameRule{p.PropertyNames}}, nil
		}
		// The format "regex" must match the engine that is used for patterns: see validatePattern.
		if p.Format != nil && p.Format.Name == "regex" {
			p.Format = &jsonschema.Format{Name: "regex", Validate: validatePattern}
		}
	}
	if v.work, err = workOf(all); err != nil {
		return nil, err
	}
	return v, nil
}

// nameRule checks the names of members for the keyword propertyNames, in place of the library. The
// library's errors share the memory of their path, so by the time they are read the path may
// contain another name.
type nameRule struct{ *jsonschema.Schema }

// Validate implements jsonschema.SchemaExt. It validates the names of an object's members against
// the schema, each as a string.
func (r nameRule) Validate(ctx *jsonschema.ValidatorContext, v any) {
	o, _ := v.(map[string]any)
	for name := range o {
		if failed, ok := r.Schema.Validate(name).(*jsonschema.ValidationError); ok {
			ctx.AddErrors(failed.Causes, &kind.PropertyNames{Property: name})
		}
	}
}

// nowhere is a URL loader that loads nothing.
type nowhere struct{}

// Load always returns an error. If it loaded a URL from a client's schema, that client could use
// this machine to reach others.
func (nowhere) Load(string) (any, error) { return nil, errors.New("nothing is loaded") }

// explain returns the library's error as a place and a sentence. The library's own texts contain
// the made-up base URL of the schema and are about URLs. But the reader is the author of a tool,
// who has one document and wants to know what to change in it. If a reference leads out of the
// document, the sentence says what to do, which is to put the schema under $defs.
func explain(err error) *SchemaError {
	if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		return explainMeta(e)
	}
	if e, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return &SchemaError{Text: fmt.Sprintf(
			"it refers to %s, which is not part of it; put it under $defs", local(e.URL))}
	}
	if e, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return &SchemaError{Text: fmt.Sprintf("it refers to %s, which is not there", local(e.URL))}
	}
	if e, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return &SchemaError{Text: fmt.Sprintf("it refers to %s, which is not there",
			local(e.Reference))}
	}
	return &SchemaError{Text: strings.ReplaceAll(err.Error(), home+"schema", "")}
}

// local returns a URL as the schema's author wrote it, cut to the length that a sentence quotes. A
// relative reference is returned without the base URL that was put before it.
func local(url string) string {
	url = strings.TrimPrefix(url, home+"schema")
	return shorten(strings.TrimPrefix(url, home))
}

// explainMeta returns the error of a schema that the specification does not allow. The library
// lists everything that the draft's meta-schema objects to. The returned error has the outermost of
// these places, because errors inside it often follow from it.
func explainMeta(e *jsonschema.SchemaValidationError) *SchemaError {
	_, at, _ := strings.Cut(e.URL, "#")
	if failed, ok := errors.AsType[*jsonschema.ValidationError](e.Err); ok {
		if all := findings(failed); len(all) > 0 {
			first := slices.MinFunc(all, finding.compare)
			return &SchemaError{Place: at + pointer(first.path), Text: first.text}
		}
	}
	return &SchemaError{Place: at, Text: e.Err.Error()}
}

// pointer returns a path as a JSON pointer. See RFC 6901, section 3, for the escapes.
func pointer(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return b.String()
}

// pattern is a regular expression of a schema. It is kept even if Go's regular expressions do not
// support it (look-around, back references), because an error would disable all checks of the tool.
// Such patterns are removed afterwards by loosen, so that more values are accepted, never fewer.
// Other regular expression engines are not used. Go's take linear time in the text, but in others a
// few bytes of a client's pattern and of a model's text could take hours. A pattern is printed as
// the schema spells it, since the problem's sentence quotes it, and \x{00e9} for the author's
// \u00e9 would not be understood.
type pattern struct {
	re   *regexp.Regexp // nil: Go cannot compile it
	text string
}

// MatchString reports whether s matches. A pattern that Go cannot compile matches everything. No
// check depends on that, because loosen removes such patterns from the schema before.
func (p pattern) MatchString(s string) bool { return p.re == nil || p.re.MatchString(s) }

// String returns the pattern as the schema spells it.
func (p pattern) String() string { return p.text }

// newPattern compiles a pattern. It never returns an error. JSON Schema's patterns are JavaScript's
// (ECMA-262), and most of what schemas use is the same in Go.
func newPattern(s string) (jsonschema.Regexp, error) {
	re, _ := regexp.Compile(schema.GoPattern(s))
	return pattern{re, s}, nil
}

// unknown reports whether re is a pattern that Go cannot compile, so that no text can be matched
// against it.
func unknown(re jsonschema.Regexp) bool {
	p, ok := re.(pattern)
	return ok && p.re == nil
}

// validatePattern checks the format "regex". It returns an error for a string that is not a pattern
// in any language of regular expressions, such as an open bracket. It accepts patterns that only Go
// does not support, such as look-ahead and back references.
func validatePattern(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	_, err := syntax.Parse(schema.GoPattern(s), syntax.Perl)
	if e, ok := errors.AsType[*syntax.Error](err); ok &&
		slices.Contains([]syntax.ErrorCode{syntax.ErrMissingBracket, syntax.ErrMissingParen,
			syntax.ErrUnexpectedParen,
			syntax.ErrMissingRepeatArgument, syntax.ErrInvalidCharRange,
			syntax.ErrTrailingBackslash},
			e.Code) {
		return err
	}
	return nil
}
