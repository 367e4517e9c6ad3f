package company

import (
	"context"
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"toolnorm/internal/store"
)

// tables creates the tables of the company. Days are DOUBLE PRECISION, because half days are taken.
// Dates are text such as 2016-03-02, which both kinds of database read alike. An employee has one
// row of leave per year.
const tables = `
CREATE TABLE documents (id INTEGER PRIMARY KEY, title TEXT NOT NULL, content TEXT NOT NULL, category TEXT NOT NULL);
CREATE TABLE employees (id TEXT PRIMARY KEY, name TEXT NOT NULL, department TEXT NOT NULL, hire_date TEXT NOT NULL);
CREATE TABLE vacations (employee_id TEXT NOT NULL REFERENCES employees (id), year INTEGER NOT NULL,
	total DOUBLE PRECISION NOT NULL, used DOUBLE PRECISION NOT NULL, PRIMARY KEY (employee_id, year));`

//go:embed seed/*.csv
var seed embed.FS

// fillTables creates the tables and fills them with the sample rows. If one of the tables exists
// already, it does nothing, because then the data is the user's own. Sample rows among those of a
// real company would be worse than none. It returns an error if the database fails.
func fillTables(ctx context.Context, tx *store.Tx) error {
	names := []string{"documents", "employees", "vacations"}
	for _, name := range names {
		if there, err := tx.HasTable(ctx, name); err != nil || there {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	for _, name := range names {
		if err := fill(ctx, tx, name); err != nil {
			return fmt.Errorf("sample rows of %s: %w", name, err)
		}
	}
	return nil
}

// fill inserts the rows of seed/NAME.csv into the table NAME. The first line of the file names the
// columns, so their order is free. It returns an error if the file or the database fails.
func fill(ctx context.Context, tx *store.Tx, name string) error {
	f, err := seed.Open("seed/" + name + ".csv")
	if err != nil {
		return err
	}
	defer f.Close()
	rows := csv.NewReader(f)
	columns, err := rows.Read()
	if err != nil {
		return err
	}
	// $1, $2 and so on are read by both kinds of database.
	places := make([]string, len(columns))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	insert, err := tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", name,
		strings.Join(columns, ", "), strings.Join(places, ", ")))
	if err != nil {
		return err
	}
	defer insert.Close()
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, values(row)...); err != nil {
			return err
		}
	}
}

// values returns the fields of a row, with numbers as float64. Ids such as EMP001 and dates stay
// text.
func values(row []string) []any {
	all := make([]any, len(row))
	for i, field := range row {
		all[i] = field
		if n, err := strconv.ParseFloat(field, 64); err == nil {
			all[i] = n
		}
	}
	return all
}
