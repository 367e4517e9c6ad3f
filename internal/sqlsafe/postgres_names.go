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

// A statement calls functions without a call: by an operator, a cast, a domain's CHECK, the name
// behind a point (u.audit is audit(u)), and by a name of the list that the owner has overloaded. So
// it runs with pg_catalog as its search path, where all names are the server's own, and the names
// that it means elsewhere are written with their schema, after the server was asked what they are.

// Kinds of names, as postgres_names.sql has them.
const (
	nameTable    = "table"
	nameType     = "type"
	nameFunction = "function"
	nameDot      = "dot"      // behind a point, of what may be no row: (0.1).pg_sleep
	nameField    = "field"    // behind a point, of a row
	nameColumn   = "column"   // behind a point, also when it is listed
	nameOperator = "operator" // its sign
	nameSchema   = "schema"   // current_schema
	nameRow      = "row"      // there is a row as a value
	nameMention  = "mention"  // a column
	nameArray    = "array"    // an array is made
)

// name is a name in a statement that the server decides about.
type name struct {
	Kind string
	Text string // as SQL has it: "users", "public"."users"; without quotes for those that are only compared
	At   int    // offset
	Bare bool   // without a schema, which is put in front of it
}

// nameAt returns a name at an offset.
func nameAt(kind, text string, at int, bare bool) name { return name{kind, text, at, bare} }

// found is what the server says of a name.
type found struct {
	kind, text, schema string
	why                string // why it may not be used; empty: it may
}

//go:embed postgres_names.sql
var askNames string

// Kinds of answers that are about no name: a schema with operators of an extension, and an array
// with the type of its elements.
const (
	operatorSchemas = "operators"
	arrayElements   = "elements"
)

// resolve asks the server for the names of a statement, in a transaction that has begun, gives the
// statement with their schemas, and sets the search path. schemas are where names are looked for.
func resolve(ctx context.Context, c *pgconn.PgConn, b *bound, what *checked, allowed map[string]bool, schemas []byte) (*bound, error) {
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
	rows := c.ExecParams(ctx, askNames, [][]byte{text, schemas}, []uint32{pgtype.TextOID, pgtype.NameArrayOID}, nil, nil).Read()
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
	for _, one := range what.Lengths { // before the names that begin at the same place
		out.edits = append(out.edits, edit{one.From, 0, shorter}, edit{one.To, 0, fmt.Sprintf(", %d)::pg_catalog.int4", longestFill)})
	}
	for _, n := range all {
		f, ok := is[[2]string{n.Kind, n.Text}]
		if !ok {
			continue // there is none, and the server says so better
		}
		if f.why != "" {
			return nil, refuse(b.text, n.At, "%s", f.why)
		}
		out.name(n, f, len(extensions) > 0)
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

// oidOf reads the number of a type; 0 is none.
func oidOf(text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// shorter stands in front of a length that is no constant. It gives NULL for NULL, which LEAST does
// not.
const shorter = "pg_catalog.int8smaller("

// edit is a change of a statement's text.
type edit struct {
	at, length int
	text       string
}

// edited is a statement that is being changed.
type edited struct {
	*bound
	edits []edit
}

// currentSchema is how it is written; with a search path of pg_catalog it would be that.
var currentSchema = regexp.MustCompile(`(?i)^current_schema\s*(\(\s*\))?`)

// name writes a name with its schema. A built-in function gets one only where the search path has
// more than built-in ones.
func (e *edited) name(n name, f found, more bool) {
	switch {
	case n.Kind == nameSchema:
		quoted := "'" + strings.ReplaceAll(f.schema, "'", "''") + "'"
		e.edits = append(e.edits, edit{n.At, len(currentSchema.FindString(e.text[n.At:])), "(SELECT " + quoted + "::pg_catalog.name AS current_schema)"})
	case !n.Bare || strings.ContainsAny(f.schema, `'\`) || // which could end a text
		f.schema == "" || f.schema == "pg_catalog" && !(more && n.Kind == nameFunction):
	default:
		e.edits = append(e.edits, edit{n.At, 0, pgx.Identifier{f.schema}.Sanitize() + "."})
	}
}

// done returns the statement with its changes. A place behind a change is told as the place in the
// statement before it.
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
