package valid

import (
	"strings"
	"testing"
)

// TestHowMuchOfAnObjectWaits writes an object up to the middle of its second value: a schema that
// speaks of the whole holds all of it, one that speaks of a value holds that, and a free string
// flows.
func TestHowMuchOfAnObjectWaits(t *testing.T) {
	const text = `{"a":"x","v":"hello wor`
	const all, leaf, none = ``, `{"a":"x"`, text
	for words, safe := range map[string]string{
		`"properties":{"v":{"type":"string"}}`:                                      none,
		`"properties":{"v":{}}`:                                                     none,
		`"properties":{"v":{"type":["string","null"]}}`:                             none,
		`"properties":{"v":{"anyOf":[{"type":"string"},{"type":"null"}]}}`:          none,
		`"properties":{"v":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}`:   none,
		`"additionalProperties":{"type":"string"}`:                                  none,
		`"properties":{"v":{"type":"string","minLength":3}}`:                        none,
		`"properties":{"v":{"type":"string","maxLength":30}}`:                       leaf,
		`"properties":{"v":{"type":"string","pattern":"^h"}}`:                       leaf,
		`"properties":{"v":{"type":"string","format":"date"}}`:                      leaf,
		`"properties":{"v":{"enum":["hello world"]}}`:                               leaf,
		`"properties":{"v":{"const":"hello world"}}`:                                leaf,
		`"properties":{"v":{"type":"integer"}}`:                                     leaf,
		`"properties":{"v":{"not":{"const":"y"}}}`:                                  leaf,
		`"properties":{"v":{"oneOf":[{"type":"string"},{"maxLength":3}]}}`:          leaf,
		`"properties":{"v":{"allOf":[{"type":"string"},{"maxLength":30}]}}`:         leaf,
		`"$ref":"#/$defs/o","$defs":{"o":{"properties":{"v":{}}}},"required":["a"]`: all,
		`"not":{"required":["w"]}`:                                                  all,
		`"if":{"required":["w"]},"then":{"required":["x"]}`:                         all,
		`"minProperties":1`:                            all,
		`"maxProperties":3`:                            all,
		`"propertyNames":{"maxLength":1}`:              all,
		`"patternProperties":{"^v":{"type":"string"}}`: all,
		`"dependentRequired":{"a":["v"]}`:              all,
		`"dependentSchemas":{"a":{"required":["v"]}}`:  all,
		`"dependencies":{"a":["v"]}`:                   all,
		`"unevaluatedProperties":false`:                all,
		`"properties":{"a":{},"v":{}},"oneOf":[{"required":["a"]},{"required":["w"]}]`: all,
		`"properties":{"a":{},"v":{}},"anyOf":[{"required":["a"]},{"required":["w"]}]`: all,
		`"allOf":[{"properties":{"v":{"type":"string"}}},{"required":["a"]}]`:          all,
	} {
		v := validator(t, `{"type":"object",`+words+`}`)
		p := read(v, text, 1)
		if got := text[:p.Safe()]; got != safe || p.problem != nil {
			t.Errorf("%s\nlets %s leave, want %s (%v)", words, got, safe, p.problem)
		}
		if v.Whole() != (safe == all) {
			t.Errorf("%s: Whole is %v", words, v.Whole())
		}
	}
}

func TestArraysThatCountAsAWholeWait(t *testing.T) {
	const text = `{"l":["x","hello wor`
	for words, safe := range map[string]string{
		`"items":{"type":"string"}`:                           text,
		`"items":{"type":"string"},"minItems":1,"maxItems":5`: text,
		`"items":{"type":"string","maxLength":30}`:            `{"l":["x"`,
		`"uniqueItems":true`:                                  `{`,
		`"contains":{"const":"x"}`:                            `{`,
		`"prefixItems":[{"type":"string"},{"type":"string"}]`: `{`,
		`"unevaluatedItems":{"type":"string"}`:                `{`,
	} {
		p := read(validator(t, `{"properties":{"l":{"type":"array",`+words+`}}}`), text, 1)
		if got := text[:p.Safe()]; got != safe || p.problem != nil {
			t.Errorf("%s\nlets %s leave, want %s (%v)", words, got, safe, p.problem)
		}
	}
}

// TestWhatLeavesOfHardSchemas: all of a valid object leaves in the end, and never all of one that
// is not.
func TestWhatLeavesOfHardSchemas(t *testing.T) {
	for _, h := range torture(t) {
		v := compiled(t, []byte(h.schema))
		for _, text := range h.valid {
			for _, n := range []int{1, 7, len(text)} {
				if p := read(v, text, n); p.problem != nil || p.Safe() != len(text) {
					t.Errorf("%s: of %s only %q can stand: %v", h.name, text, text[:p.Safe()], p.problem)
				}
			}
		}
		for _, text := range h.invalid {
			if p := read(v, text, 1); strings.HasPrefix(text, "{") && p.Safe() == len(text) && v.Check([]byte(text)) != nil {
				t.Errorf("%s: all of %s could leave, though %v", h.name, text, v.Check([]byte(text)))
			}
		}
	}
}
