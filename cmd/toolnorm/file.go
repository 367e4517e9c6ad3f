package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"toolnorm/internal/home"
)

// file is a YAML file of settings, which have the names of the flags. It is read node by node to
// keep the line numbers, which a decoded map would not have.
type file struct {
	path      string
	values    map[string]setting
	upstreams []listed
}

// setting is the value of one setting in a file.
type setting struct {
	line  int
	value any // a string, []any or map[string]any
}

var _ kong.Resolver = (*file)(nil)

// readFile reads the settings file at path. If path is empty, it reads the default file, and
// returns nil if that does not exist. It returns an error if a named file does not exist, or if the
// file is malformed.
func readFile(path string) (*file, error) {
	text, path, err := home.ReadFile(path)
	if err != nil || path == "" {
		return nil, err
	}
	f := &file{path: path, values: make(map[string]setting)}
	if err := f.parse(text); err != nil {
		text := strings.TrimPrefix(err.Error(), "yaml: ")
		if !strings.HasPrefix(text, "line ") { // the library leaves the first line's number out
			text = "line 1: " + text
		}
		return nil, fmt.Errorf("%s, %s", path, text)
	}
	return f, nil
}

// parse reads text into f. It returns an error if text is not a mapping of settings to values, or
// if a setting comes twice, although YAML readers often take the last one.
func (f *file) parse(text []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return err
	}
	if len(doc.Content) == 0 {
		return nil // nothing but comments
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: must be a mapping of settings to values", root.Line)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, node := root.Content[i], root.Content[i+1]
		if _, twice := f.values[key.Value]; twice {
			return fmt.Errorf("line %d: %s is set twice", key.Line, key.Value)
		}
		if key.Value == "upstreams" && node.Kind == yaml.SequenceNode {
			all, err := readUpstreams(node)
			if err != nil {
				return fmt.Errorf("line %d: upstreams: %w", node.Line, err)
			}
			f.upstreams = append(f.upstreams, all...)
			continue
		}
		v, err := valueOf(node)
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", node.Line, key.Value, err)
		}
		f.values[key.Value] = setting{line: key.Line, value: v}
	}
	return nil
}

// valueOf returns the value of a node for a flag: a string, a list or a map. Scalars stay text,
// since the flag knows its own type; so 010 and yes stay as the user wrote them. It returns an
// error for anything nested deeper.
func valueOf(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value, nil
	case yaml.SequenceNode:
		var list []string
		if err := n.Decode(&list); err != nil {
			return nil, errors.New("must be a list of words")
		}
		all := make([]any, len(list))
		for i, s := range list {
			all[i] = s
		}
		return all, nil
	case yaml.MappingNode:
		var m map[string]string
		if err := n.Decode(&m); err != nil {
			return nil, errors.New("must be a mapping of words to words")
		}
		all := make(map[string]any, len(m))
		for k, s := range m {
			all[k] = s
		}
		return all, nil
	}
	return nil, errors.New("must be a word, a list or a mapping")
}

// Validate implements kong.Resolver. It returns an error if the file has a setting that does not
// exist, because a typo would otherwise silently do nothing. Unknown environment variables only
// cause a warning, since a platform may set them, but the user wrote the file.
func (f *file) Validate(app *kong.Application) error {
	var known []string
	for _, flag := range settingsIn(app) {
		known = append(append(known, flag.Name), flag.Aliases...)
	}
	for name, s := range f.values {
		if !slices.Contains(known, name) || name == "config" {
			return fmt.Errorf("%s, line %d: there is no setting %q%s", f.path, s.line, name,
				suggestion(name, known))
		}
	}
	return nil
}

// Resolve implements kong.Resolver. It returns the file's value of a flag. It returns nil if the
// file has none or the environment has one, because kong asks resolvers before it looks at the
// environment, which shall have precedence. It returns an error if the value has the wrong shape,
// such as a list for a single value.
func (f *file) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if len(flag.Envs) == 0 {
		return nil, nil
	}
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	s, ok := f.values[flag.Name]
	for _, name := range flag.Aliases {
		if !ok {
			s, ok = f.values[name]
		}
	}
	if !ok {
		return nil, nil
	}
	// The setting that says when models are asked may be one word for all models.
	if text, isText := s.value.(string); isText && flag.IsMap() &&
		flag.PlaceHolder == "MODEL=WHEN" && !strings.Contains(text, "=") && text != "" {
		return map[string]any{"*": text}, nil
	}
	if _, isMap := s.value.(map[string]any); isMap != flag.IsMap() {
		return nil, fmt.Errorf("%s, line %d: %s %s", f.path, s.line, flag.Name,
			map[bool]string{true: "must be no mapping", false: "must be a mapping"}[isMap])
	}
	if list, isList := s.value.([]any); isList && flag.Name == "ollama" { // a pool
		var all []string
		for _, one := range list {
			all = append(all, fmt.Sprint(one))
		}
		return strings.Join(all, ","), nil
	}
	if _, isList := s.value.([]any); isList && !flag.IsSlice() {
		return nil, fmt.Errorf("%s, line %d: %s must be one value, not a list", f.path, s.line,
			flag.Name)
	}
	if text, isText := s.value.(string); isText && strings.TrimSpace(text) == "" &&
		!flag.IsSlice() {
		return nil, fmt.Errorf("%s, line %d: %s has no value", f.path, s.line, flag.Name)
	}
	return s.value, nil
}
