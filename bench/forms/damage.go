package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// addSpace returns a value on one line or on several, as a model may write it.
func addSpace(r *rand.Rand, value json.RawMessage) string {
	if r.IntN(2) == 0 {
		return string(value)
	}
	var b bytes.Buffer
	json.Indent(&b, value, "", "  ")
	return b.String()
}

// dress returns a value as a model writes it if nothing forces it to write JSON: with words around
// it, in a code fence, or as a value of JavaScript or Python. The value itself stays the same, so
// toolnorm must find it in the text.
func dress(r *rand.Rand, value json.RawMessage) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	d.Decode(&v)
	text := spell(r, v, r.IntN(5))
	for range r.IntN(3) {
		switch r.IntN(7) {
		case 0:
			text = "```json\n" + text + "\n```"
		case 1:
			text = "Sure! Here is the JSON that you asked for:\n\n" + text
		case 2:
			text += "\n\nLet me know if you need anything else!"
		case 3:
			text = "JSON:\n" + text
		case 4:
			text = "<answer>\n" + text + "\n</answer>"
		case 5:
			text = "The user wants an object that fits the schema. Here it is.\n```\n" + text +
				"\n```\nThis fits the schema."
		default:
			text = "\n\n  " + text + "\n"
		}
	}
	return text
}

// The spellings in which dress writes values.
const (
	asJSON = iota
	asPython
	asJavaScript
	withCommas
	withComments
)

// bare matches a name that JavaScript accepts as a key without quotes.
var bare = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// names returns the names of an object's members in random order.
func names(r *rand.Rand, object map[string]any) []string {
	all := slices.Sorted(maps.Keys(object))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// spell returns v as text: in JSON or, as the parameter how says, in a notation that models confuse
// with it, such as JavaScript, Python or JSON with comments. The members of objects are in random
// order.
func spell(r *rand.Rand, v any, how int) string {
	switch v := v.(type) {
	case map[string]any:
		var all []string
		for _, name := range names(r, v) {
			one, key := v[name], quote(name)
			if how == asJavaScript && bare.MatchString(name) {
				key = name
			} else if how == asPython {
				key = single(name)
			}
			all = append(all, key+": "+spell(r, one, how))
		}
		if how == withComments && len(all) > 0 {
			all[0] = "\n  // the members\n  " + all[0]
		}
		return "{" + joinValues(all, how) + "}"
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, spell(r, one, how))
		}
		return "[" + joinValues(all, how) + "]"
	case string:
		if how == asPython {
			return single(v)
		}
		return quote(v)
	case bool:
		if how == asPython {
			return map[bool]string{true: "True", false: "False"}[v]
		}
		return fmt.Sprint(v)
	case nil:
		if how == asPython {
			return "None"
		}
		return "null"
	}
	return fmt.Sprint(v)
}

// joinValues returns values with commas between them. If the parameter how is withCommas, a comma
// also follows the last one.
func joinValues(all []string, how int) string {
	text := strings.Join(all, ", ")
	if how == withCommas && len(all) > 0 {
		text += ","
	}
	return text
}

// single returns a text in single quotes.
func single(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
}

// misfitting returns a value with one change that a schema may not accept: a number as a text, a
// missing member, an additional member, another case, or another type. The result may still fit.
func misfitting(r *rand.Rand, value json.RawMessage) string {
	var v any
	json.Unmarshal(value, &v)
	places := 0
	each(r, &v, func(any) any { places++; return nil })
	at, how, n := r.IntN(places), r.IntN(8), 0
	each(r, &v, func(one any) any {
		if n++; n-1 != at {
			return nil
		}
		return misfit(r, one, how)
	})
	b, _ := json.Marshal(v)
	return string(b)
}

// each calls f for every part of the value *v, from the outside inwards. If f returns a value that
// is not nil, that value replaces the part.
func each(r *rand.Rand, v *any, f func(any) any) {
	if to := f(*v); to != nil {
		*v = to
		return
	}
	switch one := (*v).(type) {
	case map[string]any:
		for _, name := range names(r, one) {
			inside := one[name]
			each(r, &inside, f)
			one[name] = inside
		}
	case []any:
		for i := range one {
			each(r, &one[i], f)
		}
	}
}

// misfit returns a value that probably does not fit the schema that v fits. The parameter how
// selects the change. If v is an object, misfit changes v itself.
func misfit(r *rand.Rand, v any, how int) any {
	switch one := v.(type) {
	case map[string]any:
		switch {
		case how < 3:
			one["note_of_the_model"] = "as you wished"
		case how < 6:
			for _, name := range names(r, one)[:min(1, len(one))] {
				delete(one, name)
			}
		default:
			return []any{one}
		}
		return one
	case []any:
		if how < 4 && len(one) > 0 {
			return one[0]
		}
		return append(one, "more", 17)
	case string:
		return []any{strings.ToUpper(one), one + " ", 12, map[string]any{"value": one}, []any{one},
			"", one + "!", true}[how]
	case float64:
		return []any{fmt.Sprint(one), one + 0.25, -one - 1e6, "about " + fmt.Sprint(one), 1e9, true,
			[]any{one}, fmt.Sprint(one, " units")}[how]
	case bool:
		return []any{"true", "yes", 1.0, "False", 0.0, "maybe", []any{one}, "on"}[how]
	}
	return []any{"null", "none", 0.0, "", "n/a", false, []any{}, map[string]any{}}[how]
}
