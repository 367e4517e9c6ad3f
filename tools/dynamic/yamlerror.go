package dynamic

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The errors of the YAML library that name types of this program.
var (
	noField   = regexp.MustCompile(`field (\S+) not found in type [\w.]+`)
	wrongKind = regexp.MustCompile("cannot unmarshal !!(\\w+)(?: `[^`]*`)? into (\\S+)")
)

// kindsOfYAML names kinds of values, of the file and of this program.
var kindsOfYAML = map[string]string{
	"seq": "a list", "map": "a mapping", "str": "a text", "int": "a number", "float": "a number",
	"bool": "true or false", "null": "nothing", "timestamp": "a date",
	"string": "a text", "int64": "a whole number",
}

// explained rewrites an error of the YAML library in words that the author of a file understands.
func explained(err error) error {
	var all *yaml.TypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case !errors.As(err, &all):
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	text := noField.ReplaceAllString(strings.Join(all.Errors, "; "), "there is no field $1")
	return errors.New(wrongKind.ReplaceAllStringFunc(text, func(s string) string {
		m := wrongKind.FindStringSubmatch(s)
		want := kindsOfYAML[m[2]]
		switch {
		case m[2] == "int":
			want = "a whole number"
		case strings.HasPrefix(m[2], "[]"):
			want = "a list"
		case want == "":
			want = "a mapping"
		}
		return "want " + want + ", got " + kindsOfYAML[m[1]]
	}))
}
