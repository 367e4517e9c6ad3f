package dynamic

import (
	"encoding/json"

	"toolnorm/chat"
)

// kinds are the types of JSON Schema that those of the table stand for.
var kinds = map[string]string{typeString: "string", typeNumber: "number", typeBoolean: "boolean"}

// property is a parameter in the schema.
type property struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// schema returns the JSON Schema of a tool's arguments, with the parameters in their order:
// models write arguments in the order of the schema, and think of them so.
// additionalProperties is false so that an argument which was made up is told to the
// model, which can then use the right one, and is not dropped. There is no default and
// no null in a type: models of a few billion parameters write both where they need not.
func (d *Draft) schema() (json.RawMessage, error) {
	text, required := []byte(`{"type":"object","properties":{`), []string{}
	for i, p := range d.Params {
		one, err := chat.JSON(property{kinds[p.Type], p.Description})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, '"'), p.Name...), `":`...) // a name is of letters, digits and _
		text = append(text, one...)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	list, err := chat.JSON(required)
	if err != nil {
		return nil, err
	}
	text = append(append(text, `},"required":`...), list...)
	return append(text, `,"additionalProperties":false}`...), nil
}

// offer is a tool as OpenAI's API lists it.
type offer struct {
	Type string `json:"type"`
	// The members are OpenAI's, as is their order; the figure of tokens is of this text.
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// offered returns the tool as models see it, and about how many tokens that is: a fourth of
// its bytes, which is near enough to compare tools by.
func (d *Draft) offered() (shown json.RawMessage, tokens int, err error) {
	o := offer{Type: "function"}
	o.Function.Name, o.Function.Description = d.Name, d.DescriptionAgent
	if o.Function.Parameters, err = d.schema(); err != nil {
		return nil, 0, err
	}
	shown, err = chat.JSON(o)
	return shown, (len(shown) + 3) / 4, err
}
