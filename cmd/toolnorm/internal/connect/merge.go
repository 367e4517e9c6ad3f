package connect

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// mergeJSON adds the members of one JSON object, the text in the parameter add, to another, the
// text in old, and returns the result. The old text may have comments. If both objects have a
// member, the member gets the value in add; if both values are objects, these are merged in the
// same way. The bytes around a change stay as they are. It returns an error if old is not a valid
// JSON object.
func mergeJSON(old, add []byte) ([]byte, error) {
	to, err := hujson.Parse(old)
	if err != nil {
		return nil, fmt.Errorf("is not valid JSON: %w", err)
	}
	from, err := hujson.Parse(add)
	if err != nil {
		return nil, err
	}
	obj, ok := to.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("is not a JSON object")
	}
	mergeObject(obj, from.Value.(*hujson.Object), "\n")
	return to.Pack(), nil
}

// mergeObject adds the members of one object to another. The parameter from is the object that has
// the members, and to is the object that is changed. The argument line is the line break and the
// indentation before the closing brace of to.
func mergeObject(to, from *hujson.Object, line string) {
	inner, own := lineOf(to, line+"  "), lineOf(from, "\n")
	for _, m := range from.Members {
		name := m.Name.Value.(hujson.Literal).String()
		i := slices.IndexFunc(to.Members, func(o hujson.ObjectMember) bool {
			return o.Name.Value.(hujson.Literal).String() == name
		})
		if i < 0 {
			to.Members = append(to.Members, hujson.ObjectMember{
				Name:  hujson.Value{BeforeExtra: hujson.Extra(inner), Value: m.Name.Value},
				Value: reindent(m.Value, own, inner),
			})
			if !strings.Contains(string(to.AfterExtra), "\n") {
				to.AfterExtra = append(to.AfterExtra, line...)
			}
			continue
		}
		theirs, isObject := to.Members[i].Value.Value.(*hujson.Object)
		ours, both := m.Value.Value.(*hujson.Object)
		if isObject && both {
			mergeObject(theirs, ours, inner)
			continue
		}
		to.Members[i].Value.Value = reindent(m.Value, own, inner).Value
	}
}

// lineOf returns the line break and the indentation before an object's members. If the members are
// not on lines of their own, it returns the second argument.
func lineOf(o *hujson.Object, otherwise string) string {
	for i := range o.Members {
		if front := string(o.Members[i].Name.BeforeExtra); strings.Contains(front, "\n") {
			return front[strings.LastIndex(front, "\n"):]
		}
	}
	return otherwise
}

// reindent returns a copy of a member's value in which the indentation of all lines after the first
// is changed. The parameters from and to are the old and the new line break with its indentation.
func reindent(v hujson.Value, from, to string) hujson.Value {
	v = v.Clone()
	shift := func(x hujson.Extra) hujson.Extra {
		return hujson.Extra(strings.ReplaceAll(string(x), from, to))
	}
	for part := range v.All() {
		part.BeforeExtra = shift(part.BeforeExtra)
		switch c := part.Value.(type) {
		case *hujson.Object:
			c.AfterExtra = shift(c.AfterExtra)
		case *hujson.Array:
			c.AfterExtra = shift(c.AfterExtra)
		}
	}
	v.BeforeExtra, v.AfterExtra = hujson.Extra(" "), nil
	return v
}

// mergeYAML adds the members of one YAML mapping, the text in the parameter add, to another, the
// text in old, and returns the result. In lists, items with the same name are merged and other
// items are added. Comments stay; white space may change. It returns an error if old is not a valid
// YAML mapping.
func mergeYAML(old, add []byte) ([]byte, error) {
	var to, from yaml.Node
	if err := yaml.Unmarshal(old, &to); err != nil {
		return nil, fmt.Errorf("is not valid YAML: %w", err)
	}
	if err := yaml.Unmarshal(add, &from); err != nil {
		return nil, err
	}
	if len(to.Content) == 0 || to.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("is not a YAML mapping")
	}
	// A configuration has a name and a version of its own, which are not ours to change.
	mergeMapping(to.Content[0], from.Content[0], false)
	var b bytes.Buffer
	w := yaml.NewEncoder(&b)
	w.SetIndent(2)
	err := errors.Join(w.Encode(&to), w.Close())
	return b.Bytes(), err
}

// mergeMapping adds the members of one mapping to another. The parameter from is the mapping that
// has the members, and to is the mapping that is changed. Lists that both have are merged, and so
// are mappings. Any other value that both have is replaced only if overwrite is true or the value
// in to is null.
func mergeMapping(to, from *yaml.Node, overwrite bool) {
	for k := 0; k+1 < len(from.Content); k += 2 {
		i := keyIn(to, from.Content[k].Value)
		switch {
		case i < 0:
			to.Content = append(to.Content, from.Content[k], from.Content[k+1])
		case to.Content[i].Kind == yaml.SequenceNode && from.Content[k+1].Kind == yaml.SequenceNode:
			mergeList(to.Content[i], from.Content[k+1])
		case to.Content[i].Kind == yaml.MappingNode && from.Content[k+1].Kind == yaml.MappingNode:
			mergeMapping(to.Content[i], from.Content[k+1], overwrite)
		case overwrite || to.Content[i].Tag == "!!null":
			to.Content[i] = from.Content[k+1]
		}
	}
}

// mergeList adds the items of one list to another. The parameter from is the list that has the
// items, and to is the list that is changed. If an item of the same name is in to already, the two
// are merged.
func mergeList(to, from *yaml.Node) {
	for _, item := range from.Content {
		i := slices.IndexFunc(to.Content, func(o *yaml.Node) bool {
			return nameOf(o) != "" && nameOf(o) == nameOf(item)
		})
		if i < 0 {
			to.Content = append(to.Content, item)
		} else {
			mergeMapping(to.Content[i], item, true)
		}
	}
}

// keyIn returns the index of the value of a key in the content of a mapping; -1 if the mapping
// lacks the key.
func keyIn(m *yaml.Node, key string) int {
	for k := 0; k+1 < len(m.Content); k += 2 {
		if m.Content[k].Value == key {
			return k + 1
		}
	}
	return -1
}

// nameOf returns the value of the member "name" of a list item, or "" if it has none.
func nameOf(item *yaml.Node) string {
	if i := keyIn(item, "name"); item.Kind == yaml.MappingNode && i > 0 {
		return item.Content[i].Value
	}
	return ""
}

// tomlKey matches a line that sets a plain key, and tomlTable matches a line that begins a table.
var (
	tomlKey   = regexp.MustCompile(`^\s*([\w.-]+)\s*=`)
	tomlTable = regexp.MustCompile(`^\s*\[`)
)

// mergeTOML adds the settings in the TOML text of the parameter add to the text old, and returns
// the result. Single keys go before the first table of old, and replace keys of the same name
// there. Tables go to the end. It returns an error if old already has one of the tables, since it
// is unknown which of its settings should stay.
func mergeTOML(old, add []byte) ([]byte, error) {
	keys, tables := splitTOML(string(add))
	head, rest := splitTOML(string(old))
	for _, line := range keys {
		key := tomlKey.FindStringSubmatch(line)
		if key == nil {
			continue
		}
		i := slices.IndexFunc(head, func(o string) bool {
			m := tomlKey.FindStringSubmatch(o)
			return m != nil && m[1] == key[1]
		})
		switch {
		case strings.Contains(strings.Join(rest, "\n"), "["+key[1]+"]"):
			return nil, fmt.Errorf("has a table [%s] already; take it out, or change it by hand",
				key[1])
		case i >= 0:
			head = slices.Replace(slices.Clone(head), i, i+1, line)
		default:
			head = slices.Insert(head, 0, line)
		}
	}
	for _, line := range tables {
		if tomlTable.MatchString(line) &&
			slices.ContainsFunc(rest, func(o string) bool {
				return strings.TrimSpace(o) == strings.TrimSpace(line)
			}) {
			return nil, fmt.Errorf("has a table %s already; take it out, or change it by hand",
				line)
		}
	}
	out := strings.Join(slices.Concat(head, rest), "\n")
	return []byte(strings.TrimRight(out, "\n") + "\n\n" + strings.Join(tables, "\n")), nil
}

// splitTOML returns the lines before the first table, and the lines from it onwards.
func splitTOML(text string) (keys, tables []string) {
	all := strings.Split(text, "\n")
	i := slices.IndexFunc(all, tomlTable.MatchString)
	if i < 0 {
		i = len(all)
	}
	return slices.Clip(all[:i]), all[i:]
}
