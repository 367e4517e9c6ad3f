package remote

import (
	"encoding/json"
	"slices"
)

// itemKeys are the members that identify an item of a list. The items of other lists, such as
// tasks, pass unchanged.
var itemKeys = map[string]string{"resources/list": "uri", "resources/templates/list": "uriTemplate",
	"prompts/list": "name"}

// plainItem returns a resource, a template or a prompt of a server's list in a form that every
// client can read. Because of one odd item, a client would refuse the whole list, with the items of
// all servers. plainItem drops optional members of the wrong type, and uses the address as a
// missing name. It returns false if the item lacks the member that identifies it (see itemKeys).
func plainItem(method string, text json.RawMessage) (json.RawMessage, bool) {
	key, known := itemKeys[method]
	o, err := readObject(text)
	switch {
	case !known:
		return text, true
	case err != nil || wording(o.get(key)) == "":
		return nil, false
	}
	for i, m := range o {
		if m.key == "arguments" {
			o[i].value = plainArguments(m.value)
		}
	}
	out := o.proper()
	if wording(out.get("name")) == "" {
		out, _ = out.with("name", wording(o.get(key))) // texts always encode
	}
	return out.text(), true
}

// plainArguments returns the arguments of a prompt without those that have no name, and without
// members of a wrong type. It returns null if value is not a list.
func plainArguments(value json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(value, &all) != nil || all == nil {
		return json.RawMessage("null")
	}
	list := []object{}
	for _, one := range all {
		o, err := readObject(one)
		if err != nil || wording(o.get("name")) == "" {
			continue
		}
		list = append(list, slices.DeleteFunc(o, func(m member) bool {
			return !isProper(m) || m.key == "required" && hint(m.value) == nil
		}))
	}
	out, _ := json.Marshal(list) // values that were JSON always encode
	return out
}

// isProper reports whether a member of a resource, a template or a prompt has the type that clients
// want.
func isProper(m member) bool {
	inner, wrong := readObject(m.value)
	switch m.key {
	case "name", "title", "description", "mimeType":
		return m.value[0] == '"'
	case "size":
		return m.value[0] != 'n' && json.Unmarshal(m.value, new(float64)) == nil
	case "_meta":
		return wrong == nil
	case "annotations":
		var marks struct {
			Audience     []string `json:"audience"`
			Priority     *float64 `json:"priority"`
			LastModified *string  `json:"lastModified"`
		}
		return wrong == nil && !inner.hasNull() && json.Unmarshal(m.value, &marks) == nil
	case "icons":
		return string(more(object{m})) != "{}"
	}
	return string(m.value) != "null"
}
