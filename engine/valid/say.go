package valid

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolnorm/chat"
)

// finding is one error in a value. A Problem is made from it by putting the path of the value, such
// as "arguments.days", before its text. If the error is in a schema, the path is one in the schema.
type finding struct {
	path    []string
	keyword string
	text    string
}

// compare orders findings by their places, and then by their texts.
func (f finding) compare(g finding) int {
	return cmp.Or(slices.Compare(f.path, g.path), strings.Compare(f.text, g.text))
}

// findings returns the errors in the library's tree as a list. For a union (anyOf, oneOf) it
// returns only the errors of the branch that was meant. The sentences are not the library's own,
// which are for the author of a schema, because a model reads them.
func findings(e *jsonschema.ValidationError) []finding {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		return inAll(e.Causes)
	case *kind.AnyOf:
		return inUnion(e, "anyOf")
	// The value fits two branches. Neither has a mistake, so both are named.
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return one(e, "oneOf", fmt.Sprintf("fits alternatives %d and %d, want exactly one",
				k.Subschemas[0]+1, k.Subschemas[1]+1))
		}
		return inUnion(e, "oneOf")
	// A missing member is named in the place, so that the sentence is the same for one and for
	// several.
	case *kind.Required:
		return missing(e, "required", k.Missing, "is missing")
	case *kind.DependentRequired:
		return missing(e, "dependentRequired", k.Missing, "is missing, since "+display(k.Prop)+
			" is there")
	case *kind.Dependency:
		return missing(e, "dependencies", k.Missing, "is missing, since "+display(k.Prop)+
			" is there")
	case *kind.AdditionalProperties:
		return missing(e, "additionalProperties", k.Properties, "is not a parameter")
	// Here the name is the value, so its finding is reported like that of a value.
	case *kind.PropertyNames:
		why := ""
		if inner := inAll(e.Causes); len(inner) > 0 {
			why = ": " + inner[0].text
		}
		text := fmt.Sprintf("the name %s is not allowed%s", display(k.Property), why)
		return one(e, "propertyNames", text)
	}
	return one(e, keywordOf(e), sentence(e.ErrorKind))
}

// one returns a list with a single finding, which is about the value of the error e as a whole.
func one(e *jsonschema.ValidationError, keyword, text string) []finding {
	return []finding{{path: e.InstanceLocation, keyword: keyword, text: text}}
}

// inAll returns the findings of all causes. It is for keywords such as allOf, in which each schema
// must fit.
func inAll(causes []*jsonschema.ValidationError) (all []finding) {
	for _, c := range causes {
		all = append(all, findings(c)...)
	}
	return all
}

// missing returns one finding for each of the names. The place of a finding is that of the missing
// member, not that of the object, so that each missing member is listed separately, among the
// problems and in what the model has to write.
func missing(e *jsonschema.ValidationError, keyword string, names []string, text string) (
	all []finding) {
	for _, name := range names {
		all = append(all, finding{path: append(slices.Clone(e.InstanceLocation), name),
			keyword: keyword, text: text})
	}
	return all
}

// inUnion returns what is wrong in the branch of a union that is nearest to the value, and so was
// probably meant. If no branch is near, or several are equally near, it returns one finding, which
// says that no branch fits. Reporting every branch would take a page, and a model needs one line.
// As an example it also says what is wrong in one branch, because "fits none" alone gives a model
// nothing to act on.
func inUnion(e *jsonschema.ValidationError, keyword string) []finding {
	// Each branch has its own findings, which include those of unions in it.
	branches := make([][]finding, len(e.Causes))
	for i, c := range e.Causes {
		branches[i] = findings(c)
	}
	// Most unions are only of types, and then one line says everything.
	if types := wantedTypes(e); types != nil {
		return one(e, "type", "want "+strings.Join(types, " or "))
	}
	distance := func(b []finding) (n int) {
		for _, f := range b {
			n += far(f, len(e.InstanceLocation))
		}
		return n
	}
	slices.SortStableFunc(branches, func(a, b []finding) int {
		return cmp.Compare(distance(a), distance(b))
	})
	// 1000 means a value of another type, so even the nearest branch was hardly meant.
	if len(branches) == 1 || len(branches) > 1 && distance(branches[0]) < distance(branches[1]) &&
		distance(branches[0]) < 1000 {
		return branches[0]
	}
	// Several are equally near, so what is wrong in one of them is only an example.
	text := "fits none of the alternatives"
	if len(branches) > 0 && len(branches[0]) > 0 {
		f := slices.MinFunc(branches[0], finding.compare)
		text += "; for one of them, " +
			strings.TrimPrefix(spellPath("", f.path[len(e.InstanceLocation):])+": "+f.text, ": ")
	}
	return one(e, keyword, text)
}

// far returns how much a finding speaks against one branch of a union (anyOf or oneOf), whose value
// is at the given depth. The result is 1000 if this value has the wrong type, 500 if it is not one
// of the values of a const or enum, 100 if a member of it is not one of those of a const or enum,
// and 1 otherwise. So a branch whose {"kind": {"const": "a"}} does not fit is ruled out before its
// other members matter.
func far(f finding, depth int) int {
	switch deep := len(f.path) - depth; {
	case deep == 0 && f.keyword == "type":
		return 1000
	case deep == 0 && (f.keyword == "const" || f.keyword == "enum"):
		return 500
	case deep == 1 && (f.keyword == "const" || f.keyword == "enum"):
		return 100
	}
	return 1
}

// wantedTypes returns the types of a union if every branch failed because of the value's type, and
// nil otherwise. To the last type it adds ", got" and the type of the value. So there is one
// sentence, such as "want integer or null, got string", and not one for each branch.
func wantedTypes(e *jsonschema.ValidationError) (want []string) {
	got := ""
	for _, c := range e.Causes {
		t, ok := c.ErrorKind.(*kind.Type)
		if !ok || len(c.InstanceLocation) != len(e.InstanceLocation) {
			return nil
		}
		got = t.Got
		for _, w := range t.Want {
			if !slices.Contains(want, w) {
				want = append(want, w)
			}
		}
	}
	if len(want) > 0 {
		want[len(want)-1] += ", got " + got
	}
	return want
}

// keywordOf returns the keyword that failed. The library names keywords by a path. For the keyword
// not, and for a schema that is false, this path is empty, so they are handled separately.
func keywordOf(e *jsonschema.ValidationError) string {
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	switch e.ErrorKind.(type) {
	case *kind.Not:
		return "not"
	case *kind.RefCycle:
		return "$ref"
	}
	// a place that allows nothing is named after its keyword
	return e.SchemaURL[strings.LastIndexByte(e.SchemaURL, '/')+1:]
}

// sentence returns a sentence that says what is wanted, and what was found. It has numbers and
// values and not the words of JSON Schema. A model that reads "want at most 7, got 9" needs to know
// no keyword. For example, "three" for {"type": "object", "properties": {"days": {"type":
// "integer"}}} gives "want integer, got string".
func sentence(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("want %s, got %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return fmt.Sprintf("want one of %s, got %s", displayAll(k.Want), display(k.Got))
	case *kind.Const:
		return fmt.Sprintf("want %s, got %s", display(k.Want), display(k.Got))
	case *kind.Format:
		return fmt.Sprintf("want text in the format %s, got %s", k.Want, display(k.Got))
	case *kind.Pattern:
		return fmt.Sprintf("want text that matches %s, got %s", shorten(k.Want), display(k.Got))
	case *kind.MinProperties:
		return fmt.Sprintf("want at least %d members, got %d", k.Want, k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("want at most %d members, got %d", k.Want, k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("want at least %d elements, got %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("want at most %d elements, got %d", k.Want, k.Got)
	case *kind.MinLength:
		return fmt.Sprintf("want at least %d characters, got %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("want at most %d characters, got %d", k.Want, k.Got)
	case *kind.AdditionalItems:
		return fmt.Sprintf("the last %d elements are too many", k.Count)
	}
	return sentenceOfRest(k)
}

// sentenceOfRest is the second half of the function sentence, for numbers and rare keywords. It is
// separate only because of its length.
func sentenceOfRest(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return fmt.Sprintf("want at least %s, got %s", decimal(k.Want), decimal(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("want at most %s, got %s", decimal(k.Want), decimal(k.Got))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("want more than %s, got %s", decimal(k.Want), decimal(k.Got))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("want less than %s, got %s", decimal(k.Want), decimal(k.Got))
	case *kind.MultipleOf:
		return fmt.Sprintf("want a multiple of %s, got %s", decimal(k.Want), decimal(k.Got))
	case *kind.UniqueItems:
		return fmt.Sprintf("elements %d and %d are equal, want each once", k.Duplicates[0],
			k.Duplicates[1])
	case *kind.Contains:
		return "no element is of the kind that has to be among them"
	case *kind.MinContains:
		return fmt.Sprintf(
			"want at least %d elements of the kind that has to be among them, got %d", k.Want,
			len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("want at most %d elements of the kind that may be among them, got %d",
			k.Want, len(k.Got))
	case *kind.Not:
		return "this value is ruled out"
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.RefCycle:
		return "the schema refers to itself without end"
	}
	return "does not fit the schema"
}

// decimal returns a number as a decimal, without an exponent, or "a number" for nil. The library
// has bounds as fractions, and 7/2 is not how the schema spells the bound.
func decimal(r *big.Rat) string {
	if r == nil {
		return "a number"
	}
	// A schema's numbers are decimals and thus exact. Ten digits are enough for others.
	digits, exact := r.FloatPrec()
	if !exact {
		digits = 10
	}
	return shorten(r.FloatString(digits))
}

// display returns a value as JSON, cut if it is long. A value of many kilobytes would fill the
// prompt in which the model should correct it.
func display(v any) string {
	text, err := chat.JSON(v)
	if err != nil {
		return "something else"
	}
	return shorten(string(text))
}

// displayAll returns a list of values as text. It shows at most twelve values, which are enough to
// see what is meant, while a list of all countries would fill a context.
func displayAll(list []any) string {
	const most = 12
	var parts []string
	for _, v := range list[:min(len(list), most)] {
		parts = append(parts, display(v))
	}
	if len(list) > most {
		parts = append(parts, "… ("+strconv.Itoa(len(list))+" in all)")
	}
	return strings.Join(parts, ", ")
}
