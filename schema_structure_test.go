package toolnorm

import (
	"go/ast"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// schemaWords are keywords of JSON Schema that are not also words of something else here.
var schemaWords = []string{
	"properties", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired",
	"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "anyOf", "oneOf", "allOf", "enum", "const",
	"$ref", "$defs", "$anchor", "$dynamicRef", "$recursiveRef", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "multipleOf", "nullable",
}

// schemaReaders are the packages that read schemas: one for all who write from them, and the check
// of a call, which goes by a library and looks into its places.
var schemaReaders = []string{"chat/schema", "engine/valid"}

// schemaWriters are the files that name keywords to print them, and why they may.
var schemaWriters = map[string]string{
	"engine/reduce/reduce.go":             "writes the schema that chat templates print",
	"mcpserver/list.go":                   "writes the schema of a tool's outcome around the tool's own",
	"adapters/envelope.go":                "knows a call in which a model has copied its schema in place of arguments",
	"adapters/internal/lenient/member.go": "the same: arguments inside of a copied schema",
	"adapters/internal/grammar/value.go":  "names a rule",
	"adapters/internal/grammar/object.go": "names a rule",
	"internal/test/heavy/heavy.go":        "makes schemas for tests, by the keyword that is heavy",
	"internal/voidmodel/client.go":        "writes tools as Void does",
	"internal/test/odd/odd.go":            "makes odd members for tests, schemas among them",
	"internal/ocr/model.go":               "writes the schema that holds a model's answer to yes and no",

	"proxy/form/responses/tools.go": "writes the schema of a tool whose input is a text",

	"tools/kb/base.go": "writes the knowledge bases that a caller may see into the schemas of its own tools",

	"tools/dynamic/details.go": "names fields of a tool's parameters that are called as the keywords which they become",
	"tools/dynamic/schema.go":  "writes the schemas of tools that administrators make",
	"tools/dynamic/promise.go": "writes the schemas of their results",
	"mcpserver/objects.go":     "writes an object around the schema of a result, for older clients",

	"tools/data/complete_column_extraction.go": "reads items, a member of its own arguments",
}

// TestSchemasAreReadInOnePlace holds that nobody reads JSON Schema beside the packages that do:
// five readers of it once understood the same schema in five ways, so a model was told one type,
// and its call was checked against another.
func TestSchemasAreReadInOnePlace(t *testing.T) {
	_, all := readPackages(t)
	used := map[string]bool{}
	for _, p := range all {
		if slices.Contains(schemaReaders, p.dir) || strings.HasPrefix(p.dir, "bench") || strings.HasPrefix(p.dir, "e2e") {
			continue
		}
		for path, f := range p.files {
			words := schemaWordsIn(f)
			if len(words) == 0 {
				continue
			}
			if used[path] = true; schemaWriters[path] == "" {
				t.Errorf("%s names %s: read schemas with chat/schema; if the file prints them only, list it with the reason", path, strings.Join(words, ", "))
			}
		}
	}
	for path := range schemaWriters {
		if !used[path] {
			t.Errorf("%s is said to print keywords of schemas, and names none", path)
		}
	}
}

// schemaWordsIn are the keywords that stand in a file as a string of their own, or as the name of a
// field in JSON.
func schemaWordsIn(f *ast.File) []string {
	found := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, _ := strconv.Unquote(lit.Value)
		name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
		for _, word := range []string{text, name} {
			if slices.Contains(schemaWords, word) {
				found[word] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}
