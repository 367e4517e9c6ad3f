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

// What the values of a column may be in JSON, as types of JSON Schema with commas between. Any of
// them may be null, and a value that a limit cut is a text.
const (
	textColumn   = "string"
	numberColumn = "number,string" // a large number is a text, as readers with doubles would round it
	anyColumn    = ""
)

// postgresColumn returns what postgresValue makes of a type.
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

// column returns what value makes of a type.
func (b *bound) column(oid uint32) string {
	if b.arrays[oid] != 0 {
		return "array,string"
	}
	return postgresColumn(oid)
}

// sqliteColumn returns what sqliteValue makes of a column by its declared type, of which SQLite
// holds to TEXT alone: a column of INTEGER may have texts in it.
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

// declaredAs returns a value as its column has it. The driver reads dates as times, and of a UNION
// the first SELECT alone says what a column is.
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

// declaredTypes returns the declared types of the columns, empty for what is computed.
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

// columnsOf returns a table of columns by their names and types, without rows.
func columnsOf(names, types []string) *Table {
	return &Table{Columns: distinct(names), Types: types}
}

// describe returns the columns of a declared cursor, and no rows.
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

// secondName is how SQLite calls the second column of a name in a subquery.
var secondName = regexp.MustCompile(`^(.+):\d+$`)

// describe returns the columns of a statement that was compiled, without running it; nil when they
// cannot be told. The driver knows columns of statements that run, and LIMIT 0 ends one before it
// begins.
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
