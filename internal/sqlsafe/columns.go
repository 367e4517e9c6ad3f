package sqlsafe

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// The JSON Schema types that a column's values can have in JSON, separated by commas. Any value may
// be null, and a value that was cut by a limit is a text.
const (
	textColumn = "string"
	// a large number is a text, because readers that use doubles would round it
	numberColumn = "number,string"
	anyColumn    = ""
)

// postgresColumn returns the JSON type of a column of a PostgreSQL type, as postgresValue converts
// its values.
func postgresColumn(oid uint32) string {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.OIDOID:
		return "integer"
	case pgtype.Int8OID:
		return "integer,string"
	case pgtype.Float4OID, pgtype.Float8OID:
		return numberColumn
	case pgtype.BoolOID:
		return "boolean"
	case pgtype.JSONOID, pgtype.JSONBOID:
		return anyColumn
	}
	if _, list := elementOf(oid); list {
		return "array,string"
	}
	return textColumn
}

// column returns the JSON type of a column of a PostgreSQL type. Unlike postgresColumn, it knows
// the arrays of types that are not built in.
func (b *bound) column(oid uint32) string {
	if b.arrays[oid] != 0 {
		return "array,string"
	}
	return postgresColumn(oid)
}

// sqliteColumn returns the JSON type of a column, as sqliteValue converts its values, given the
// declared type. SQLite enforces only TEXT; an INTEGER column may contain texts.
func sqliteColumn(declared string) string {
	declared = strings.ToUpper(declared)
	if strings.Contains(declared, "INT") {
		return numberColumn
	}
	for _, word := range []string{"CHAR", "CLOB", "TEXT"} {
		if strings.Contains(declared, word) {
			return textColumn
		}
	}
	return numberColumn
}

// declaredAs returns a value in the form that its column is declared to have. A DATE, which the
// driver reads as a time, becomes a date again. A number in a column of text becomes a text,
// because in a UNION only the first SELECT determines the declared type.
func declaredAs(declared string, v any) any {
	switch n := v.(type) {
	case time.Time:
		if declared == "DATE" && n.Equal(n.Truncate(24*time.Hour)) {
			return n.Format(time.DateOnly)
		}
	case int64, float64:
		if sqliteColumn(declared) == textColumn {
			return fmt.Sprint(n)
		}
	}
	return v
}

// declaredTypes returns the declared types of the columns of rows, with "" for a computed column.
// It fails if the driver cannot tell the types.
func declaredTypes(rows *sql.Rows) ([]string, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	all := make([]string, len(types))
	for i, t := range types {
		all[i] = t.DatabaseTypeName()
	}
	return all, nil
}

// columnsOf returns a table without rows whose columns have these names and types.
func columnsOf(names, types []string) *Table {
	return &Table{Columns: distinct(names), Types: types}
}

// describe returns a table with the columns of the declared cursor, and no rows. It fails if the
// server does.
func describe(ctx context.Context, c *pgconn.PgConn, sent *bound, _ Limits) (*Table, error) {
	found, err := c.Prepare(ctx, "", "FETCH FORWARD 0 FROM toolnorm_query", nil)
	if err != nil {
		return nil, err
	}
	names, types := make([]string, len(found.Fields)), make([]string, len(found.Fields))
	for i, f := range found.Fields {
		names[i], types[i] = f.Name, sent.column(f.DataTypeOID)
	}
	return columnsOf(names, types), nil
}

// secondName matches the name that SQLite gives to a second column of the same name in a subquery.
var secondName = regexp.MustCompile(`^(.+):\d+$`)

// describe returns a table with the columns of a compiled statement, without rows, or nil if they
// cannot be determined. The driver knows only the columns of statements that run, so the statement
// is run with LIMIT 0, which ends it before its first row.
func (s *sqliteFile) describe(ctx context.Context, conn *sql.Conn, q Statement) *Table {
	values, err := q.sqliteValues()
	if err != nil {
		return nil
	}
	text := q.SQL
	if words := SQLite.tokens(text); len(words) > 0 && words[len(words)-1].text == ";" {
		text = text[:words[len(words)-1].at]
	}
	rows, err := conn.QueryContext(ctx, "SELECT * FROM (\n"+text+"\n) LIMIT 0", values...)
	if err != nil {
		return nil
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil
	}
	types, err := declaredTypes(rows)
	if err != nil {
		return nil
	}
	for i, name := range names {
		if m := secondName.FindStringSubmatch(name); m != nil {
			names[i] = m[1]
		}
		types[i] = sqliteColumn(types[i])
	}
	return columnsOf(names, types)
}
