package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/clip"
	"toolnorm/internal/jsontree"
)

// The limits on one schema. Everything that reads schemas takes time in proportion to these, so
// they bound the cost of a request before anything is computed. The largest schema seen in use came
// from an MCP server and had 30 members nested six levels deep. It reaches a twentieth of each
// limit. A schema that reaches all of them takes more tokens than a local model's context.
const (
	mostBytes    = 256 << 10
	mostValues   = 10_000 // JSON values
	mostNesting  = 128    // levels of JSON
	mostMembers  = 2000   // of one object, such as properties
	mostListed   = 5000   // values of an enum
	mostBranches = 1000   // of allOf, anyOf, oneOf, and every other list
	mostPattern  = 4096   // bytes of a regular expression
)

// The limits on all schemas of a request together, which are enough for ten thousand small tools.
const (
	allBytes    = 4 << 20
	allValues   = 150_000
	allPatterns = 128 << 10 // bytes of regular expressions; see textCost
	allSteps    = 1 << 20   // instructions of regular expressions; see stepCost
)

// ExcessCode is the code of an Excess in an error of the API.
const ExcessCode = "schema_too_large"

// Excess is the error for a request whose tools exceed a limit.
type Excess struct {
	// Param is the place in the request, in the notation of OpenAI's errors:
	// "tools[3].function.parameters".
	Param string
	Tool  string // the name of the tool; empty if it is not a tool's schema
	What  string // which limit is exceeded, and its value
}

// Error implements error with a sentence for the author of the client. It quotes the tool's name,
// because a client sends all its tools at once, and its author knows them by their names and not by
// their numbers.
func (e *Excess) Error() string {
	if e.Tool == "" {
		return fmt.Sprintf("this schema is too large: %s", e.What)
	}
	// A name is part of the request and may itself be too large. Names of real tools are not
	// longer.
	return fmt.Sprintf("tool %q is too large: %s", clip.Dots(e.Tool, 64), e.What)
}

// Affordable checks the schemas of a request: those of its tools and the schema that its answer
// must fit, which may be nil. It returns an *Excess if they exceed a limit. It takes time in
// proportion to the schemas' text, and little if they are small. It must run before everything else
// that examines a schema: one request with 300,000 entries in an allOf once occupied a core for 14
// minutes, even after its client had left. Treating such a schema as one that allows everything
// would send its megabytes to a model that has no room for them, whereas an error is seen at once.
// Descriptions are included, because they reach the model with the tool. The answer's schema is
// counted last.
func Affordable(tools []chat.Tool, answer json.RawMessage) error {
	var b budget
	for i, t := range tools {
		if b.bytes += len(t.Description); len(t.Description) > mostBytes || b.bytes > allBytes {
			return &Excess{Param: fmt.Sprintf("tools[%d].function.description", i), Tool: t.Name,
				What: over(mostBytes, "bytes in a description, and 4 MiB in all tools together,")}
		}
		if what := b.spend(t.Schema); what != "" {
			return &Excess{Param: fmt.Sprintf("tools[%d].function.parameters", i), Tool: t.Name,
				What: what}
		}
	}
	if what := b.spend(answer); what != "" {
		return &Excess{Param: "response_format", What: what}
	}
	return nil
}

// budget counts the cost of schemas so far. The sums are limited as well as each schema, because a
// hundred tools, each just below the limits of one, take as long as one tool of a hundred times the
// size.
type budget struct {
	bytes, values, patterns, steps int // of all schemas
	own                            int // values of the current schema
}

// small is the size in bytes up to which a schema without patterns cannot be expensive, because it
// cannot reach the limits of one schema. Nearly all schemas of real tools are smaller. A request
// may have 10,000 of them, and none is parsed here.
const small = 1024

// spend counts one schema, and returns a sentence about the limit that is exceeded, or "" if none
// is. A small schema is not parsed: its commas and colons, which are about as many as its values,
// are counted instead. A text with a pattern, or with an escape that may hide the word
// (`p\u0061ttern`), is always parsed.
func (b *budget) spend(raw json.RawMessage) string {
	if len(raw) > mostBytes {
		return over(mostBytes, "bytes")
	}
	if b.bytes += len(raw); b.bytes > allBytes {
		return ofAll(allBytes, "bytes")
	}
	if len(raw) < small && !bytes.Contains(raw, []byte(`attern`)) && !bytes.Contains(raw, []byte(
		`\u`)) {
		b.values += bytes.Count(raw, []byte{','}) + bytes.Count(raw, []byte{':'})
		return b.tooMany()
	}
	// From here on the schema is parsed, to a depth that is a limit of its own: the parser is
	// recursive, and each bracket is only one byte.
	b.own = 0
	root, deep := jsontree.Parse(raw, mostNesting)
	if deep {
		return over(mostNesting, "levels of nesting")
	}
	return b.visit(root, "")
}

// over returns a sentence that says that one schema exceeds a limit. The parameter what is the
// unit of the limit, such as "bytes".
func over(limit int, what string) string {
	return fmt.Sprintf("at most %d %s are taken", limit, what)
}

// ofAll returns a sentence that says that all schemas together exceed a limit. The parameter what
// is the unit of the limit, such as "bytes".
func ofAll(limit int, what string) string {
	return fmt.Sprintf("at most %d %s are taken, in all tools together", limit, what)
}

// tooMany returns a sentence about the limit that the number of values exceeds, or "" if it exceeds
// none. It is called for every value, so that counting ends as soon as there are too many.
func (b *budget) tooMany() string {
	switch {
	case b.own > mostValues:
		return over(mostValues, "JSON values")
	case b.values > allValues:
		return ofAll(allValues, "JSON values")
	}
	return ""
}

// visit counts the contents of the value v, which is the member named key of a schema. It returns a
// sentence about the first limit that is exceeded, or "". A list's limit depends on its keyword:
// values of an enum are only compared, while each branch of an anyOf is multiplied with its
// neighbors. A member named like a keyword counts as that keyword even inside a default, where it
// is only data, because telling them apart would mean interpreting the schema.
func (b *budget) visit(v *jsontree.Value, key string) string {
	if v == nil {
		return ""
	}
	b.own++
	b.values++
	// The limit of a list depends on its keyword.
	most, of := mostBranches, "elements in one list"
	switch key {
	case "enum":
		most, of = mostListed, "values in an enum"
	case "required":
		most, of = mostMembers, "required members"
	}
	switch {
	case b.tooMany() != "":
		return b.tooMany()
	case len(v.Members) > mostMembers:
		return over(mostMembers, "members in one object")
	case len(v.Items) > most:
		return over(most, of)
	case key == "pattern" && kind(v) == String:
		return b.pattern(v.Text)
	}
	for _, item := range v.Items {
		if what := b.visit(item, ""); what != "" {
			return what
		}
	}
	for _, m := range v.Members {
		what := b.visit(m.Value, m.Name)
		// Here the names are patterns, and the values are ordinary schemas.
		if what == "" && key == "patternProperties" {
			what = b.pattern(m.Name)
		}
		if what != "" {
			return what
		}
	}
	return ""
}

// pattern counts the cost of a regular expression. It returns a sentence about the first limit that
// is exceeded, or "" if none is. The text is counted first, because reading it is the expensive
// part. A short pattern may be the most expensive thing in a request: (\p{L}|\p{N}){1,900} writes
// two classes of hundreds of ranges 900 times. A pattern that Go cannot read costs nothing, because
// no code compiles it.
func (b *budget) pattern(text string) string {
	if len(text) > mostPattern {
		return over(mostPattern, "bytes in a pattern")
	}
	if b.patterns += textCost(text); b.patterns > allPatterns {
		return ofAll(allPatterns, "bytes of patterns (a class such as \\p{L} counts as 64)")
	}
	re, err := syntax.Parse(GoPattern(text), syntax.Perl)
	if err != nil {
		return "" // it is never compiled
	}
	if b.steps += stepCost(re); b.steps > allSteps {
		return ofAll(allSteps, "steps of patterns, repetitions multiplied")
	}
	return ""
}

// The cost of a character class in bytes of text. \p{L} is parsed in the time of 64 plain bytes.
// When case is ignored, each character of a class is looked up. So [Ā-\uffff] takes five
// milliseconds, as long as thousands of bytes, but a class of ASCII characters takes nothing.
const (
	classCost  = 64
	foldedCost = 8192
)

var (
	// folding matches the flag i in any group, as in (?i) and (?i:a). A flag in the middle of a
	// pattern applies to what follows it.
	folding = regexp.MustCompile(`\(\?[-0-9A-Za-z]*i`)
	// beyondASCII matches single characters beyond ASCII, and escapes that may name them.
	beyondASCII = regexp.MustCompile(`\\u|\\x|[^\x00-\x7f]`)
)

// textCost returns how expensive it is to read a pattern: the number of bytes of plain text that
// take as long.
func textCost(text string) int {
	classes := strings.Count(text, `\p`) + strings.Count(text, `\P`)
	cost := len(text) + classCost*classes
	if folding.MatchString(text) && beyondASCII.MatchString(text) {
		cost += foldedCost * strings.Count(text, "[")
	}
	return cost
}

// stepCost returns about how many instructions an expression compiles to. A counted repetition is
// written out that many times, and a class of many ranges takes as much as several characters. The
// result is capped just above the limit of a request, so that nested repetitions cannot overflow an
// int.
func stepCost(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1 + len(re.Rune)/32
	}
	for _, sub := range re.Sub {
		n += stepCost(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, allSteps+1)
}
