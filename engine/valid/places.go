package valid

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxFollow is how many consecutive references are followed, since they may be cyclic, for example
// by an author's mistake. The value is then checked when it is complete.
const maxFollow = 16

// follow returns the schema that applies to a value whose first byte is c. It follows references,
// and unions in which c leaves only one choice. The result whole reports whether keywords apply for
// which the value must be complete. For example, pydantic writes {"anyOf": [{"type": "string"},
// {"type": "null"}]} for an optional text. Its first byte, a quote, decides between the branches,
// so a long string need not wait for its end.
func follow(s *jsonschema.Schema, c byte) (one *jsonschema.Schema, whole bool) {
	for range maxFollow {
		if !isCombined(s) {
			return s, rare(s)
		}
		next := single(s, c)
		if next == nil {
			return s, true
		}
		s = next
	}
	return s, true
}

// isCombined reports whether other schemas apply to the same value by $ref, allOf, anyOf or oneOf.
// The keywords not and if also hold schemas, but the function rare looks for those.
func isCombined(s *jsonschema.Schema) bool {
	return s.Ref != nil || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0
}

// single returns the schema to which s leads by a reference or a union, if only one applies to a
// value whose first byte is c. It returns nil if s has keywords of its own, or if several schemas
// apply: all members of an allOf, or branches of a union among which one byte cannot decide. Only a
// branch that accepts nothing but null can be excluded by the byte.
func single(s *jsonschema.Schema, c byte) *jsonschema.Schema {
	if rare(s) || s.Types != nil || !free(s) || speaks(s) {
		return nil
	}
	// Null branches are skipped only in a union without allOf and $ref, and only if the value is
	// not null itself.
	union := len(s.AnyOf)+len(s.OneOf) > 1 && len(s.AllOf) == 0 && s.Ref == nil && c != 'n'
	var only *jsonschema.Schema
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, {s.Ref}} {
		for _, one := range list {
			switch {
			case one == nil, union && isNull(one):
			case only != nil:
				return nil
			default:
				only = one
			}
		}
	}
	return only
}

// speaks reports whether a schema has keywords of its own about objects, arrays or numbers. If such
// a schema refers to another schema, a Prefix cannot check only that other one, because both apply.
func speaks(s *jsonschema.Schema) bool {
	return s.Properties != nil || s.AdditionalProperties != nil || len(s.Required) > 0 ||
		s.Items != nil || s.Items2020 != nil || s.MinItems != nil || s.MaxItems != nil ||
		s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil ||
		s.ExclusiveMaximum != nil || s.MultipleOf != nil
}

// isNull reports whether a schema accepts only null. It does not recognize {"const": null}, so a
// value whose union has such a branch is held back until it is complete.
func isNull(s *jsonschema.Schema) bool {
	return s.Types != nil && slices.Equal(s.Types.ToStrings(), []string{"null"}) && !isCombined(s)
}

// rare reports whether a schema has keywords that can be checked only when the value is complete,
// because a later part of the value can break them. For example, the last element can break
// uniqueItems, and a further member can break a dependency. Without such keywords the members of a
// value are checked one by one.
func rare(s *jsonschema.Schema) bool {
	return s.RecursiveRef != nil || s.DynamicRef != nil || s.Not != nil || s.If != nil ||
		s.Then != nil || s.Else != nil ||
		s.MaxProperties != nil || s.MinProperties != nil || len(s.Extensions) > 0 ||
		len(s.PatternProperties) > 0 ||
		len(s.Dependencies)+len(s.DependentRequired)+len(s.DependentSchemas) > 0 ||
		s.UnevaluatedProperties != nil ||
		s.UniqueItems || s.Contains != nil || len(s.PrefixItems) > 0 || s.AdditionalItems != nil ||
		isTuple(s.Items) ||
		s.UnevaluatedItems != nil
}

// isTuple reports whether an items keyword of older drafts lists one schema per position.
func isTuple(items any) bool {
	_, list := items.([]*jsonschema.Schema)
	return list
}

// items returns the schema of an array's elements, or nil if elements may be of any kind. The
// library uses different fields for drafts up to 2019-09 and later ones.
func items(s *jsonschema.Schema) *jsonschema.Schema {
	if one, ok := s.Items.(*jsonschema.Schema); ok {
		return one
	}
	return s.Items2020
}

// free reports whether a schema has no rules for strings: no list of values, no pattern, format or
// length. contentEncoding and similar keywords are ignored, because most validators do not check
// them either.
func free(s *jsonschema.Schema) bool {
	return s.MinLength == nil && freeFrom(s)
}

// freeFrom reports whether a schema has no rules for strings except a minimum length. Once a string
// has the minimum, no later character can break this rule again.
func freeFrom(s *jsonschema.Schema) bool {
	return s.Enum == nil && s.Const == nil && s.Format == nil && s.Pattern == nil &&
		s.MaxLength == nil
}

// takes reports whether values of a type may be sent before they are complete. It returns false if
// the schema lists the allowed values, because `"re` may become "red" or "reed".
func takes(s *jsonschema.Schema, kind string) bool {
	return s.Enum == nil && s.Const == nil &&
		(s.Types == nil || slices.Contains(s.Types.ToStrings(), kind))
}
