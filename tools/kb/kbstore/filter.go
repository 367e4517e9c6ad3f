package kbstore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolnorm/internal/auth"
	"toolnorm/internal/store"
)

// Filter is what a principal may see of a knowledge base: documents of the principal's tenant,
// which are public or belong to one of its departments, and whose clearance it has. It has to be
// asked before anything is scored: the best 500 of all passages, filtered afterwards, could be
// none, and their number would tell about the others.
//
// The zero value shows nothing. There are two forms of it, Allows and where, and a test holds them
// together.
type Filter struct {
	everything  bool
	valid       bool
	tenant      string
	departments []string
	clearance   int
}

// FilterOf returns the filter of a principal, and the zero value for nil. Departments are copied: a
// filter must not change with a slice that the caller still holds.
func FilterOf(p *auth.Principal) Filter {
	if p == nil {
		return Filter{}
	}
	return Filter{p.Admin, true, p.Tenant, slices.Clone(p.Departments), p.Clearance}
}

// Allows reports whether a document may be seen.
func (f Filter) Allows(a *Access) bool {
	switch {
	case f.everything:
		return true
	case !f.valid || a.Tenant != f.tenant || a.Clearance > f.clearance:
		return false
	}
	return a.Public || slices.ContainsFunc(a.Departments, func(d string) bool {
		return d != "" && slices.Contains(f.departments, d)
	})
}

// where returns the filter as a condition on documents d, and appends its values to args. A public
// document has a row with the department "", so that a document without rows is hidden from all.
// Values are parameters, also the departments, whose names come from a token.
func (f Filter) where(args *[]any) string {
	if f.everything {
		return "TRUE"
	}
	if !f.valid {
		return "FALSE"
	}
	departments := places(args, append([]string{""}, f.departments...))
	// Written as it is said; the order of the conditions is the planner's.
	return fmt.Sprintf(
		"(d.tenant = %s AND d.clearance <= %s AND EXISTS (SELECT 1 FROM document_departments p WHERE p.document_id = d.id AND p.department IN (%s)))",
		places(args, []string{f.tenant}), places(args, []int{f.clearance}), departments)
}

// places appends values to those of a statement, and returns their placeholders: "$3, $4".
func places[T any](args *[]any, values []T) string {
	var all []string
	for _, v := range values {
		*args = append(*args, v)
		all = append(all, fmt.Sprintf("$%d", len(*args)))
	}
	return strings.Join(all, ", ")
}

// listed returns values as one value of a statement, whose text then is the same for any number of
// them: see among and each. What is listed can always be written as JSON.
func listed[T any](values []T) string {
	list, _ := json.Marshal(append([]T{}, values...)) // none is []
	return string(list)
}

// among returns a condition on a text: it is one of those that value n lists.
func among(kind store.Kind, n int) string {
	if kind == store.Postgres {
		return fmt.Sprintf("= ANY (ARRAY(SELECT json_array_elements_text($%d::text::json)))", n)
	}
	return fmt.Sprintf("IN (SELECT value FROM json_each($%d))", n)
}

// byIDs returns a condition on documents: they are of base $1, and among those that value n lists.
// By the + SQLite looks them up by their ids, and does not go through all of the base.
func byIDs(kind store.Kind, n int) string {
	where := "c.knowledge_base_id = $1 AND d.id " + among(kind, n)
	if kind == store.SQLite {
		where = "+" + where
	}
	return where
}

// each returns a table j, in whose column value is what value n lists.
func each(kind store.Kind, n int) string {
	if kind == store.Postgres {
		return fmt.Sprintf("json_array_elements($%d::text::json) j(value)", n)
	}
	return fmt.Sprintf("json_each($%d) j", n)
}

// ReadableBy reports whether a principal may look into a knowledge base: an administrator always,
// others if it is of their tenant, and among the bases that their token names, when it names some.
// What they see there is up to the Filter.
func (b *Base) ReadableBy(p *auth.Principal) bool {
	switch {
	case p == nil:
		return false
	case p.Admin:
		return true
	}
	// a UUID in capitals is the same
	same := func(id string) bool { return strings.EqualFold(id, b.ID) }
	return b.Tenant == p.Tenant && (p.Bases == nil || slices.ContainsFunc(p.Bases, same))
}
