package kbstore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolnorm/internal/auth"
	"toolnorm/internal/store"
)

// Filter decides what a principal may see of a knowledge base: documents of the principal's tenant
// that are public or belong to one of its departments, and whose clearance it has. It must be
// applied before anything is scored. If the best 500 of all passages were filtered afterwards, none
// might remain, and the number of those that remain would reveal something about the hidden ones.
//
// The zero value shows nothing. The rule exists twice, in Allows and in where, and a test checks
// that both agree.
type Filter struct {
	everything  bool
	valid       bool
	tenant      string
	departments []string
	clearance   int
}

// FilterOf returns the filter of a principal, or the zero value for nil. Departments are copied, so
// that the filter does not change with the caller's slice.
func FilterOf(p *auth.Principal) Filter {
	if p == nil {
		return Filter{}
	}
	return Filter{p.Admin, true, p.Tenant, slices.Clone(p.Departments), p.Clearance}
}

// Allows reports whether the principal of the filter may see a document with the given access
// rights.
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

// where returns the filter as an SQL condition on documents d, and appends its values to args. A
// public document has a row with the department "", so that a document without rows is hidden from
// everyone except administrators. All values are parameters, since the names of departments come
// from a token.
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

// places appends values to the arguments of a statement, and returns their placeholders, such as
// "$3, $4".
func places[T any](args *[]any, values []T) string {
	var all []string
	for _, v := range values {
		*args = append(*args, v)
		all = append(all, fmt.Sprintf("$%d", len(*args)))
	}
	return strings.Join(all, ", ")
}

// listed returns values as a JSON list, to be passed as one value of a statement (see among and
// each). The text of the statement is then the same for any number of values.
func listed[T any](values []T) string {
	list, _ := json.Marshal(append([]T{}, values...)) // none is []
	return string(list)
}

// among returns an SQL condition that a text is in a list. The list is the n-th value of the
// statement.
func among(kind store.Kind, n int) string {
	if kind == store.Postgres {
		return fmt.Sprintf("= ANY (ARRAY(SELECT json_array_elements_text($%d::text::json)))", n)
	}
	return fmt.Sprintf("IN (SELECT value FROM json_each($%d))", n)
}

// byIDs returns an SQL condition that documents belong to the base $1 and that their ids are in a
// list, which is the n-th value of the statement. For SQLite the condition begins with a + sign, so
// that SQLite looks the documents up by their ids and does not scan the whole base.
func byIDs(kind store.Kind, n int) string {
	where := "c.knowledge_base_id = $1 AND d.id " + among(kind, n)
	if kind == store.SQLite {
		where = "+" + where
	}
	return where
}

// each returns an SQL expression for a table with the name j. Its column "value" has the elements
// of a list, which is the n-th value of the statement.
func each(kind store.Kind, n int) string {
	if kind == store.Postgres {
		return fmt.Sprintf("json_array_elements($%d::text::json) j(value)", n)
	}
	return fmt.Sprintf("json_each($%d) j", n)
}

// ReadableBy reports whether a principal may read a knowledge base. An administrator always may.
// Other principals may if the base belongs to their tenant, and if their token names this base or
// no bases. What they see in it depends on the Filter.
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
