package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/reduce"
	"toolnorm/engine/valid"
	"toolnorm/internal/test/must"
)

// tried are the values that every reader is asked about.
var tried = []string{`"3"`, `3`, `3.5`, `-1`, `true`, `null`, `"red"`, `"some longer text"`, `[1]`, `{"k":1}`}

// read are the schemas of one parameter that the readers are compared by; definitions stand behind
// a semicolon.
var read = []string{
	`{}`, `true`, `{"type":"string"}`, `{"type":"integer"}`, `{"type":"number"}`, `{"type":"boolean"}`, `{"type":"null"}`, `{"type":"object"}`, `{"type":"array"}`,
	`{"type":"int"}`, `{"type":"str"}`, `{"type":"STRING"}`, `{"type":"float"}`, `{"type":"bool"}`, `{"type":"dict"}`, `{"type":"list"}`, `{"type":"any"}`, `{"type":"file"}`, `{"type":null}`,
	`{"type":["string","null"]}`, `{"type":["int","none"]}`, `{"type":["file","string"]}`, `{"type":["any","null"]}`, `{"type":[]}`,
	`{"type":"string","nullable":true}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"oneOf":[{"type":"integer"},{"type":"boolean"}]}`, `{"anyOf":[{"type":"int"},{"type":"list"}]}`,
	`{"allOf":[{"type":"integer"}]}`, `{"allOf":[{"type":"integer","minimum":1},{"minimum":2,"maximum":5}]}`, `{"allOf":[{"type":"str"},{"maxLength":4}]}`,
	`{"enum":["red","blue"]}`, `{"enum":[3,"red",null]}`, `{"const":3}`, `{"const":"red"}`, `{"type":"string","enum":["red",3]}`, `{"enum":[]}`,
	`{"$ref":"#/$defs/num"};"num":{"type":"integer"}`, `{"$ref":"#/$defs/a%20b"};"a b":{"type":"integer"}`, `{"$ref":"#num"};"x":{"$anchor":"num","type":"integer"}`,
	`{"$ref":"#/$defs/u"};"u":{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `{"$ref":"#/$defs/list/anyOf/17"};"list":{"anyOf":[` + strings.Repeat(`{},`, 17) + `{"type":"integer"}]}`,
	`{"$ref":"#/$defs/chain"};"chain":{"$ref":"#/$defs/num"},"num":{"type":"int"}`, `{"$ref":"#/$defs/num","description":"d"};"num":{"type":"integer"}`,
	`{"$ref":"#/$defs/tree"};"tree":{"type":"object","properties":{"k":{"$ref":"#/$defs/tree"}}}`,
	`{"type":"integer","minimum":1}`, `{"type":"integer","exclusiveMinimum":3}`, `{"type":"integer","minimum":3,"exclusiveMinimum":true}`, `{"type":"number","maximum":3}`,
	`{"type":"string","minLength":4}`, `{"type":"string","maxLength":4}`, `{"type":"string","pattern":"^r"}`, `{"type":"string","format":"date"}`, `{"minLength":4}`, `{"minimum":1}`,
	`{"type":"array","items":{"type":"integer"}}`, `{"type":"array","items":{"type":"str"}}`, `{"type":"array","items":[{"type":"string"}]}`, `{"type":"array","prefixItems":[{"type":"string"}]}`, `{"items":{"type":"string"}}`, `{"type":"array","items":[{"type":"string"}],"prefixItems":[{"type":"string"}]}`,
	`{"type":"object","properties":{"k":{"type":"integer"}}}`, `{"type":"object","properties":{"k":{"type":"string"}}}`, `{"type":"object","required":["x"]}`, `{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":{"type":"string"}}`,
	`{"enum":["red",null]}`, `{"type":"integer","enum":[1,3,"red"]}`, `{"$ref":"#/$defs/num","minimum":2};"num":{"type":"integer"}`, `{"allOf":[{"$ref":"#/$defs/num"}],"description":"d"};"num":{"type":"integer"}`,
	`{"oneOf":[{"type":"object","properties":{"k":{"const":1}},"required":["k"]},{"type":"object","properties":{"k":{"const":"x"}}}]}`, `{"type":"integer","minimum":1e30}`, `{"type":"number","exclusiveMinimum":3}`, `{"type":"array","minItems":2}`, `{"type":"array","maxItems":0}`,
	`{"$ref":"#/$defs/lists"};"lists":{"type":"array","items":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/lists"}]}}`, `{"type":"object","patternProperties":{"^k":{"type":"string"}}}`, `{"type":["string","integer"],"minLength":4,"minimum":1}`,
	`{"type":"object","anyOf":[{"required":["k"]},{"required":["x"]}]}`, `{"properties":{"k":{}}}`, `{"type":"string","required":true}`, `{"type":"object","properties":[]}`, `{"type":"integer","title":5}`, `{"not":{"type":"string"}}`, `{"if":{"type":"string"},"then":{"maxLength":4}}`,
}

// declared are the disagreements that are meant to be.
var declared = map[string]string{
	`{"type":"object","required":["x"]}`:             "servers refuse or lose a required member that has no property, so the prompt does not have it",
	`{"type":"object","additionalProperties":false}`: "that nothing else may be there is said to a model by what is listed",
	`{"items":{"type":"string"}}`:                    "a model is told the type that its keywords belong to",
	`{"minLength":4}`:                                "a server is told the type that its keywords belong to",
	`{"minimum":1}`:                                  "a server is told the type that its keywords belong to",
	`{"properties":{"k":{}}}`:                        "a model is told the type that its keywords belong to",
	`{"type":["file","string"]}`:                     "a model is told the types that are known, and a note has the others",
	`{"type":"string","nullable":true}`:              "the note says it; null is taken when the model writes it",
}

// taken are the values that a schema of one parameter takes, by the validator.
func taken(t *testing.T, raw json.RawMessage, wrap func(value string) string) (all []string) {
	t.Helper()
	v, err := new(valid.Cache).Get(raw)
	if err != nil {
		return []string{"unusable: " + err.Error()}
	}
	for _, value := range tried {
		if v.Check([]byte(wrap(value))) == nil {
			all = append(all, value)
		}
	}
	return all
}

// TestTheReadersOfSchemasAgree shows what each reader makes of a parameter's schema: the values
// that its reading takes, for arguments (after they were put right), for the model's prompt, for
// servers that hold to a schema, for the check; and what a grammar has for it. Where a server or
// the prompt takes more than the check does, it must say that something was dropped.
func TestTheReadersOfSchemasAgree(t *testing.T) {
	var b bytes.Buffer
	faults := map[string]bool{}
	for _, row := range read {
		one, defs, _ := strings.Cut(row, ";")
		raw := json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"n":%s},"required":["n"],"$defs":{%s}}`, one, defs))
		tool := chat.Tool{Name: "f", Schema: raw}
		args := func(value string) string { return `{"n":` + value + `}` }

		check := taken(t, raw, args)
		_, prompt := new(reduce.Cache).Tool(tool)
		told := taken(t, prompt, args)
		c := schema.ConstrainCalls([]chat.Tool{tool}, schema.Options{})
		held := taken(t, c.Schema, func(value string) string { return `{"name":"f","arguments":{"n":` + value + `}}` })
		typ := schema.Compile(raw).Prop("n")
		var fitted []string
		for _, value := range tried {
			if fit := value; value[0] != '[' && value[0] != '{' {
				if fit = typ.Fit(value); fit != value {
					fitted = append(fitted, value+" is "+fit)
				}
			}
		}
		g := adapters.Named("hermes").Grammar([]chat.Tool{tool}, false)
		fmt.Fprintf(&b, "%s\n  check    %s\n  prompt   %s\n  server   %s\n  dropped  %s\n  args     %s\n  grammar  %s\n  open     %s\n\n", row,
			strings.Join(check, " "), strings.Join(told, " "), strings.Join(held, " "), strings.Trim(fmt.Sprint(c.Dropped), "[]"), strings.Join(fitted, ", "), ruleOf(g.Text), strings.Trim(fmt.Sprint(g.Dropped), "[]"))

		fault := func(format string, a ...any) {
			if faults[row] = true; declared[row] == "" {
				t.Errorf(format, a...)
			}
		}
		for _, value := range tried {
			if slices.Contains(held, value) && !slices.Contains(check, value) && len(c.Dropped) == 0 {
				fault("%s: a server lets %s through, which does not fit, and nothing is said to be dropped", row, value)
			}
			if slices.Contains(told, value) && !slices.Contains(check, value) && !bytes.Contains(prompt, []byte(`(`)) {
				fault("%s: the prompt %s lets the model write %s, which does not fit", row, prompt, value)
			}
			if slices.Contains(check, value) && !slices.Contains(told, value) {
				fault("%s: the prompt %s rules out %s, which fits", row, prompt, value)
			}
			if slices.Contains(check, value) && !slices.Contains(held, value) {
				fault("%s: a server rules out %s, which fits", row, value)
			}
		}
	}
	for row := range declared {
		if !faults[row] {
			t.Errorf("%s: the readers are said to disagree, and do not", row)
		}
	}
	must.Match(t, "testdata/readers.txt", b.String())
}

// ruleOf is what a grammar has for the parameter n; of a rule that is named, what it says.
func ruleOf(text string) string {
	_, rest, _ := strings.Cut(text, `\"n\": "`)
	rest, _, _ = strings.Cut(strings.TrimSpace(rest), "\n")
	name, _, _ := strings.Cut(rest, " ")
	if _, rule, ok := strings.Cut(text, "\n"+name+" ::= "); ok {
		rule, _, _ = strings.Cut(rule, "\n")
		return name + " = " + rule
	}
	return rest
}
