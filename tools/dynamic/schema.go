package dynamic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// property is the JSON Schema of a parameter or of a list's elements.
type property struct {
	Type        string          `json:"type,omitempty"`
	Description string          `json:"description,omitempty"`
	Format      string          `json:"format,omitempty"`
	Enum        []any           `json:"enum,omitempty"`
	Minimum     json.RawMessage `json:"minimum,omitempty"`
	Maximum     json.RawMessage `json:"maximum,omitempty"`
	MinLength   int             `json:"minLength,omitempty"`
	MaxLength   int             `json:"maxLength,omitempty"`
	Pattern     string          `json:"pattern,omitempty"`
	Items       json.RawMessage `json:"items,omitempty"`
	MinItems    int             `json:"minItems,omitempty"`
	MaxItems    int             `json:"maxItems,omitempty"`
	Unique      bool            `json:"uniqueItems,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Examples    []Value         `json:"examples,omitempty"`
}

// property returns the JSON Schema of a parameter. The parameter choices has the values that the
// SELECT of an ENUM gave; nil means that they are not known. It returns an error if a part of it
// cannot be encoded.
func (p *Param) property(choices []any) (json.RawMessage, error) {
	k := p.kind()
	is, inner := p.element(k.base, choices)
	for level := range k.lists {
		text, err := is.written(inner)
		if err != nil {
			return nil, err
		}
		if is, inner = (property{Type: "array", Items: text}), nil; level == k.lists-1 {
			is.MinItems, is.MaxItems, is.Unique = p.MinItems, p.MaxItems, p.Unique
		}
	}
	is.Description = strings.TrimSpace(p.Description + "\n" + p.between(k.base))
	is.Default, is.Examples = json.RawMessage(p.Default), p.Examples
	return is.written(inner)
}

// written returns a property as JSON. The parameter own is the schema that the author wrote for an
// OBJECT. If own has members that the property lacks, they are added. written returns an error if
// own is not a JSON object.
func (is property) written(own Value) (json.RawMessage, error) {
	text, err := chat.JSON(is)
	if err != nil || len(own) == 0 {
		return text, err
	}
	var members, theirs map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(own, &theirs); err != nil {
		return nil, err
	}
	for name := range members { // members of the parameter win over those of its schema
		delete(theirs, name)
	}
	if len(theirs) == 0 {
		return text, nil
	}
	rest, err := chat.JSON(theirs)
	return append(append(text[:len(text)-1], ','), rest[1:]...), err
}

// element returns the JSON Schema of one value of the type base, with the rules of the parameter.
// This is the parameter's own value or, if the parameter is a list, one element. The parameter
// choices has the values that the SELECT of an ENUM gave. The result own is the schema that the
// author wrote for an OBJECT, or nil.
func (p *Param) element(base string, choices []any) (is property, own Value) {
	switch base {
	case typeInteger, typeNumber:
		is.Type, is.Minimum, is.Maximum = strings.ToLower(base), json.RawMessage(p.Minimum),
			json.RawMessage(p.Maximum)
	case typeBoolean, typeObject:
		is.Type, own = strings.ToLower(base), p.Schema
	case typeEnum:
		for _, one := range p.Choices {
			choices = append(choices, one.get())
		}
		is.Type, is.Enum = typeOf(choices), choices
	case typeDate:
		is.Type, is.Format = "string", "date"
	case typeTimestamp:
		is.Type, is.Format = "string", "date-time"
	case typeUUID:
		is.Type, is.Format = "string", "uuid"
	default:
		is.Type, is.Format, is.Pattern = "string", p.Format, p.Pattern
		is.MinLength, is.MaxLength = p.MinLength, p.MaxLength
	}
	return is, own
}

// typeOf returns the JSON Schema type that all choices have, or "" if they have several types.
// Without choices it is "string".
func typeOf(choices []any) string {
	is := ""
	for _, one := range choices {
		now := "string"
		switch one := one.(type) {
		case bool:
			now = "boolean"
		case json.Number:
			if now = "integer"; strings.ContainsAny(string(one), ".eE") {
				now = "number"
			}
		}
		switch {
		case is == "", is == "integer" && now == "number":
			is = now
		case is == "number" && now == "integer":
		case is != now:
			return ""
		}
	}
	return cmp.Or(is, "string")
}

// between returns the bounds of a date or a time in words, because JSON Schema has no bounds for
// texts. It returns "" if there are none.
func (p *Param) between(base string) string {
	low, high := p.Minimum.get(), p.Maximum.get()
	switch {
	case base != typeDate && base != typeTimestamp, low == nil && high == nil:
		return ""
	case high == nil:
		return fmt.Sprintf("Not before %v.", low)
	case low == nil:
		return fmt.Sprintf("Not after %v.", high)
	}
	return fmt.Sprintf("From %v to %v.", low, high)
}

// schema returns the JSON Schema of a tool's arguments. The parameters are in their order, because
// models write and consider arguments in the order of the schema. additionalProperties is false, so
// that an invented argument is not dropped but reported to the model, which can then use the right
// one. No type includes null, since models of a few billion parameters write null where they need
// not. The function choices returns the choices that the SELECT of an ENUM gave. schema returns an
// error if a part cannot be encoded.
func (d *Draft) schema(choices func(*Param) []any) (json.RawMessage, error) {
	text, required := []byte(`{"type":"object","properties":{`), []string{}
	first := true
	for i := range d.Params {
		p := &d.Params[i]
		if p.Caller != "" {
			continue
		}
		one, err := p.property(choices(p))
		if err != nil {
			return nil, err
		}
		if !first {
			text = append(text, ',')
		}
		first = false
		// a name is of letters, digits and _
		text = append(append(append(text, '"'), p.Name...), `":`...)
		text = append(text, one...)
		if p.Required && len(p.Default) == 0 {
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

// offer is a tool in the form in which OpenAI's API lists it.
type offer struct {
	Type string `json:"type"`
	// The members and their order are OpenAI's; the number of tokens is that of this text.
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// offered returns the tool as models see it, and about how many tokens that is: a fourth of its
// bytes, which is accurate enough to compare tools. It returns an error if the schema cannot be
// encoded.
func (d *Draft) offered(choices func(*Param) []any) (shown json.RawMessage, tokens int, err error) {
	o := offer{Type: "function"}
	o.Function.Name, o.Function.Description = d.Name, d.DescriptionAgent
	if o.Function.Parameters, err = d.schema(choices); err != nil {
		return nil, 0, err
	}
	shown, err = chat.JSON(o)
	return shown, (len(shown) + 3) / 4, err
}
