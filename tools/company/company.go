// Package company holds the sample company: its documents, employees and vacations in a database,
// and the tools that ask it.
//
// Each tool is one Go file with its function and one Markdown file with the description that a
// model reads.
package company

import (
	"context"
	"fmt"
	"time"

	"toolnorm/internal/store"
	"toolnorm/tools"
)

// Company answers from its database. It is safe for concurrent use. It caches nothing, so a change
// of the database by another program shows in the next call. The clock is a field, so that a test
// can set the current day.
type Company struct {
	db  *store.DB
	now func() time.Time
}

// Open opens the company in db. If its tables do not exist, it creates them with sample rows, so
// that a first start has data to try the tools with. Existing tables are not changed. now returns
// the current day; if it is nil, Open uses the clock and the zone of this machine. Open returns an
// error if the tables cannot be created.
func Open(ctx context.Context, db *store.DB, now func() time.Time) (*Company, error) {
	if now == nil {
		now = time.Now
	}
	// Tables and rows are one step, so programs that start at once fill the tables once.
	if err := db.Migrate(ctx, "company", store.Step{Name: "tables and sample rows",
		Do: fillTables}); err != nil {
		return nil, fmt.Errorf("company: %w", err)
	}
	return &Company{db, now}, nil
}

// Tools returns the tools that query the company's data.
func (c *Company) Tools() []tools.Tool {
	return []tools.Tool{c.searchDocs(), c.getEmployeeInfo(), c.getAllEmployees(),
		c.calculateVacationDays()}
}

// hints returns the hints that apply to every tool here: they only read, and reach nothing outside.
// Clients that ask the user before each call need not ask for tools that only read.
func hints() tools.Hints {
	yes, no := true, false
	return tools.Hints{ReadOnly: &yes, Destructive: &no, Idempotent: &yes, OpenWorld: &no}
}
