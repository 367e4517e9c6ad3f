package sqlsafe

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Relation is a table or view that statements may read.
type Relation struct {
	Name    string   `json:"name"` // with its schema, unless that is in the search path
	Columns []Column `json:"columns"`
	Error   string   `json:"error,omitempty"` // why it cannot be read
}

// Column is a column of a Relation.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // as the database writes it; may be empty in SQLite
}

// mostColumns bounds the list of columns, which is for people who look for a table that they know.
const mostColumns = 5000

// exploreWait is the longest time that the list may take.
const exploreWait = 5 * time.Second

// relations returns the tables and views that statements may read, sorted by name. A table that
// cannot be read has no columns, and the reason in its Error. relations fails if the file itself
// cannot be read.
func (s *sqliteFile) relations(ctx context.Context) (all []Relation, err error) {
	ctx, cancel := context.WithTimeout(ctx, exploreWait)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	g := &guard{s: s}
	// the authorizer of an earlier statement would refuse the schema
	if err := g.authorizer(conn, nil); err != nil {
		return nil, err
	}
	// The hidden tables of an FTS5 table (notes_data, notes_idx, …) are shadows in
	// pragma_table_list.
	names, err := texts(ctx, conn, `SELECT name FROM pragma_table_list
		WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	left := mostColumns
	for _, name := range names {
		if left <= 0 || s.tables != nil && !s.tables[strings.ToLower(name)] {
			continue
		}
		one, err := sqliteColumns(ctx, conn, name, left)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// A table of a module that is not compiled in, or a view of a table that is gone, cannot be
		// read by statements either.
		if err != nil {
			all, left = append(all, Relation{Name: name, Columns: []Column{},
				Error: g.placed(err).Error()}), left-1
			continue
		}
		all = append(all, one...)
		left -= len(one[0].Columns)
	}
	return all, nil
}

// sqliteColumns returns a list of one relation: the given table or view with its columns, up to the
// number in the parameter most. It fails if the table cannot be read or has no columns.
func sqliteColumns(ctx context.Context, in asker, table string, most int) ([]Relation, error) {
	rows, err := in.QueryContext(ctx,
		"SELECT ?1, name, type FROM pragma_table_info(?1) ORDER BY cid LIMIT ?2", table, most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all, err := relations(rows)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no columns", table)
	}
	return all, err
}

// cursor has the methods that rows of a result have in both drivers, for PostgreSQL and for SQLite.
type cursor interface {
	Next() bool
	Scan(into ...any) error
	Err() error
}

// relations reads rows that each have a table, a column and its type, and returns the tables. The
// rows are sorted by table, so a column belongs to the last table or begins a new one. It fails if
// the rows cannot be read.
func relations(rows cursor) (all []Relation, err error) {
	for rows.Next() {
		var table string
		var c Column
		if err := rows.Scan(&table, &c.Name, &c.Type); err != nil {
			return nil, err
		}
		if len(all) == 0 || all[len(all)-1].Name != table {
			all = append(all, Relation{Name: table})
		}
		last := &all[len(all)-1]
		last.Columns = append(last.Columns, c)
	}
	return all, rows.Err()
}

// Relations returns the tables and views that the role may read, sorted by name. It shows only
// those for which the role has a right. It fails if the server does not answer in time.
func (db *PostgresDB) Relations(ctx context.Context) (all []Relation, err error) {
	ctx, cancel := context.WithTimeout(ctx, exploreWait)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, connecting(err)
	}
	defer conn.Release()
	path, err := begin(ctx, conn.Conn().PgConn(), "SET LOCAL jit = off")
	if err != nil {
		return nil, err
	}
	defer conn.Exec(ctx, "ROLLBACK")
	rows, err := conn.Query(ctx,
		`SELECT CASE WHEN n.nspname = ANY ($2::name[]) THEN c.relname::text ELSE n.nspname || '.' || c.relname END,
			a.attname::text, format_type(a.atttypid, a.atttypmod)
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
			AND has_column_privilege(c.oid, a.attnum, 'SELECT')
		ORDER BY 1, a.attnum LIMIT $1`, mostColumns, string(path))
	if err != nil {
		return nil, connecting(err)
	}
	defer rows.Close()
	return relations(rows)
}
