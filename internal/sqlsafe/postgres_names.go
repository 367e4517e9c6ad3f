package sqlsafe

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// A statement can call functions in hidden ways: by an operator, a cast, a domain's CHECK, the name
// after a dot (u.audit is audit(u)), and by an allowed name that the owner has overloaded. So it
// runs with pg_catalog as its search path, where all names are built in. The names that it needs
// from other schemas are qualified, after the server was asked what they are.

// The kinds of names, as postgres_names.sql uses them.
const (
	nameTable    = "table"
	nameType     = "type"
	nameFunction = "function"
	// after a dot, if the value before it may be something else than a row: (0.1).pg_sleep
	nameDot      = "dot"
	nameField    = "field"    // after a dot that follows a row
	nameColumn   = "column"   // after a dot, even if the name is a listed function
	nameOperator = "operator" // the sign of an operator
	nameSchema   = "schema"   // a use of current_schema
	nameRow      = "row"      // a row is used as a value
	nameMention  = "mention"  // a column
	nameArray    = "array"    // an array is built
)

// name is a name in a statement whose meaning only the server knows, such as the name of a table.
type name struct {
	Kind string
	// in SQL: "users", "public"."users"; without quotes for names that are only compared
	Text string
	At   int  // its offset in the statement
	Bare bool // it has no schema, so one will be added
}

// nameAt returns a name of the given kind, which stands at the offset at of a statement. The
// parameter bare says that the name has no schema.
func nameAt(kind, text string, at int, bare bool) name { return name{kind, text, at, bare} }

// found is what the server says about a name in a statement.
type found struct {
	kind, text, schema string
	why                string // why it must not be used; empty: it may be used
}

//go:embed postgres_names.sql
var askNames string

// The kinds of answers that are not about a name: a schema with an extension's operators, and an
// array type with the type of its elements.
const (
	operatorSchemas = "operators"
	arrayElements   = "elements"
)

// resolve asks the server, within the open transaction, what the names in what mean. The argument
// schemas lists the schemas in which they are looked up, and allowed the functions that the
// settings allow. It returns the statement with qualified names, and sets the search path if
// extensions have operators. The error is a *Refusal if a name must not be used, and otherwise an
// error of the server.
func resolve(ctx context.Context, c *pgconn.PgConn, b *bound, what *checked,
	allowed map[string]bool, schemas []byte) (*bound, error) {
	all := what.Names
	about := map[string][]string{"allowed": slices.AppendSeq([]string{}, maps.Keys(allowed))}
	for _, n := range all {
		if !slices.Contains(about[n.Kind], n.Text) {
			about[n.Kind] = append(about[n.Kind], n.Text)
		}
	}
	text, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	rows := c.ExecParams(ctx, askNames, [][]byte{text, schemas},
		[]uint32{pgtype.TextOID, pgtype.NameArrayOID}, nil, nil).Read()
	if rows.Err != nil {
		return nil, fmt.Errorf("ask what the names of the statement are: %w", rows.Err)
	}
	is := map[[2]string]found{}
	var extensions []string
	arrays := map[uint32]uint32{}
	for _, row := range rows.Rows {
		f := found{string(row[0]), string(row[1]), string(row[2]), string(row[3])}
		switch f.kind {
		case operatorSchemas:
			extensions = append(extensions, f.schema)
			continue
		case arrayElements:
			arrays[oidOf(f.text)] = oidOf(f.schema)
			continue
		}
		if before, ok := is[[2]string{f.kind, f.text}]; !ok || before.why == "" {
			is[[2]string{f.kind, f.text}] = f
		}
	}
	out := &edited{bound: b}
	for _, one := range what.Lengths { // before names that begin at the same offset
		out.edits = append(out.edits, edit{one.From, 0, shorter}, edit{one.To, 0, fmt.Sprintf(
			", %d)::pg_catalog.int4", longestFill)})
	}
	for _, n := range all { // if there is no such name, the server's own error is better
		if f, ok := is[[2]string{n.Kind, n.Text}]; ok && f.why != "" {
			return nil, refuse(b.text, n.At, "%s", f.why)
		} else if ok {
			out.name(n, f, len(extensions) > 0)
		}
	}
	path := ""
	for _, schema := range extensions {
		path += ", " + pgx.Identifier{schema}.Sanitize()
	}
	if path != "" {
		if _, err := c.Exec(ctx, "SET LOCAL search_path = pg_catalog"+path).ReadAll(); err != nil {
			return nil, err
		}
	}
	sent := out.done()
	sent.arrays = arrays
	return sent, nil
}

// oidOf parses the OID of a type. It returns 0 if the text is not a number.
func oidOf(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// shorter is inserted before a length that is not a constant. Unlike LEAST, this function returns
// NULL for NULL.
const shorter = "pg_catalog.int8smaller("

// edit is one change to a statement's text.
type edit struct {
	at, length int
	text       string
}

// edited is a statement with changes that are still to be made.
type edited struct {
	*bound
	edits []edit
}

// currentSchema matches a call of current_schema. With the changed search path the call would
// return pg_catalog.
var currentSchema = regexp.MustCompile(`(?i)^current_schema\s*(\(\s*\))?`)

// name adds an edit that writes the schema f.schema, in which the server found the name n, before
// that name. Built-in names need no schema. But if the parameter more is true, the search path
// contains functions that are not built in, so even a built-in function gets its schema. A call of
// current_schema is replaced by its value.
func (e *edited) name(n name, f found, more bool) {
	switch {
	case n.Kind == nameSchema:
		quoted := "'" + strings.ReplaceAll(f.schema, "'", "''") + "'"
		e.edits = append(e.edits, edit{n.At, len(currentSchema.FindString(e.text[n.At:])),
			"(SELECT " + quoted + "::pg_catalog.name AS current_schema)"})
	case !n.Bare || strings.ContainsAny(f.schema, `'\`) || // these characters could end a text
		f.schema == "" || f.schema == "pg_catalog" && !(more && n.Kind == nameFunction):
	default:
		e.edits = append(e.edits, edit{n.At, 0, pgx.Identifier{f.schema}.Sanitize() + "."})
	}
}

// done returns the changed statement. Its marks map offsets in the new text to offsets in the old
// one.
func (e *edited) done() *bound {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	out := &bound{sql: e.text}
	var text strings.Builder
	from := 0
	for _, one := range e.edits {
		if one.at < from {
			continue
		}
		text.WriteString(e.text[from:one.at])
		text.WriteString(one.text)
		from = one.at + one.length
		out.marks = append(out.marks, mark{text.Len(), from, one.length})
	}
	text.WriteString(e.text[from:])
	out.text = text.String()
	return out
}
