package dynamic

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolnorm/internal/auth"
)

// callers maps each property of the caller that may fill a parameter to the type that the parameter
// must have. Such a parameter is in no schema, so that what a model writes cannot change whose rows
// are queried.
var callers = map[string]string{
	"subject": typeString, "tenant": typeString, "clearance": typeInteger, "departments": "LIST<" +
		typeString + ">",
}

// filled checks a parameter whose value comes from the caller's identity, and adds each mistake to
// the problems in note. The parameter field is the prefix of the field names in these problems.
func (p *Param) filled(note *problems, field string) {
	if p.Caller == "" {
		return
	}
	switch kind, ok := callers[p.Caller]; {
	case !ok:
		note.wrong(field+"caller", "parameter", "caller is one of %s, not %.40q",
			strings.Join(slices.Sorted(maps.Keys(callers)), ", "), p.Caller)
	case p.Type != kind:
		note.wrong(field+"caller", "parameter", "the %s of a caller is a %s, and %s is a %s",
			p.Caller, kind, p.Name, p.Type)
	case len(p.Default) > 0:
		note.wrong(field+"default", "parameter", "%s is filled from the caller, and has no default",
			p.Name)
	}
}

// ofCaller returns the parameter's value from the identity of the caller of ctx, such as the
// tenant, or nil if the caller has no such property.
func (p *Param) ofCaller(ctx context.Context) any {
	who := auth.PrincipalOf(ctx)
	switch p.Caller {
	case "subject":
		return nonempty(who.Subject)
	case "tenant":
		return nonempty(who.Tenant)
	case "clearance":
		return json.Number(strconv.Itoa(who.Clearance))
	}
	if len(who.Departments) == 0 {
		return nil
	}
	var all []any
	for _, one := range who.Departments {
		all = append(all, one)
	}
	return all
}

// nonempty returns text, or nil if it is empty.
func nonempty(text string) any {
	if text == "" {
		return nil
	}
	return text
}
