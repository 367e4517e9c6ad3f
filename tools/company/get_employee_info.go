package company

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolnorm/tools"
)

//go:embed get_employee_info.md
var getEmployeeInfoText string

// idProperty is the schema of an employee's id. No id has 32 characters, so a model that puts a
// whole question here gets an error that says so.
const idProperty = `"employee_id": {"type": "string", "minLength": 1, "maxLength": 32, "description": "Id of the employee, e.g. EMP001"}`

// getEmployeeInfo returns the tool that looks up one employee by id. It does not search names,
// because two employees may have the same name, and get_all_employees lists the ids.
func (c *Company) getEmployeeInfo() tools.Tool {
	return tools.Tool{
		Name: "get_employee_info", Title: "Look up an employee", Description: getEmployeeInfoText,
		Hints: hints(),
		Schema: json.RawMessage(
			`{"type": "object", "required": ["employee_id"], "additionalProperties": false, "properties": {` + idProperty + `}}`),
		Output: json.RawMessage(
			`{"type": "object", "required": ["id", "name", "department", "hire_date", "days_employed"],
			"properties": {"id": {"type": "string"}, "name": {"type": "string"}, "department": {"type": "string"},
				"hire_date": {"type": "string", "format": "date"}, "days_employed": {"type": "integer", "minimum": 0}}}`),
		Call: tools.Typed(c.employee),
	}
}

// employee is the result of the tool get_employee_info. The date is unchanged from the table. The
// days are counted here, so that no model has to count them.
type employee struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Department   string `json:"department"`
	HireDate     string `json:"hire_date"`
	DaysEmployed int    `json:"days_employed"`
}

// employee returns an employee, with the days from the hire date to today in the clock's own zone:
// just after midnight in Seoul it is a day later there than in London. It returns an error if there
// is no such employee, if the hire date is not a date, or if the database fails.
func (c *Company) employee(ctx context.Context, in struct {
	ID string `json:"employee_id"`
}) (e employee, err error) {
	id := canonical(in.ID)
	row := c.db.QueryRowContext(ctx,
		"SELECT id, name, department, hire_date FROM employees WHERE id = $1", id)
	switch err = row.Scan(&e.ID, &e.Name, &e.Department, &e.HireDate); {
	case errors.Is(err, sql.ErrNoRows):
		return e, unknownEmployee(id)
	case err != nil:
		return e, fmt.Errorf("read employee %s: %w", id, err)
	}
	// A table of one's own may have other dates; the error says which form is wanted.
	hired, err := time.Parse(time.DateOnly, e.HireDate)
	if err != nil {
		return e, fmt.Errorf("the hire date of %s is no date like 2026-01-31: %q", id, e.HireDate)
	}
	e.DaysEmployed = daysBetween(hired, c.now())
	return e, nil
}

// canonical returns an id in the form of the table, since models write emp001. Ids are always upper
// case there, so no two ids are confused.
func canonical(id string) string { return strings.ToUpper(strings.TrimSpace(id)) }

// unknownEmployee returns an error that says that the id is wrong, and names the tool that lists
// the right ones.
func unknownEmployee(id string) error {
	return fmt.Errorf("there is no employee %q; get_all_employees lists the ids", id)
}

// daysBetween returns the number of whole calendar days between two times, never less than 0. Both
// dates count as days in UTC, since a day on which clocks change has 23 or 25 hours.
func daysBetween(from, to time.Time) int {
	day := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	return max(0, int(day(to).Sub(day(from)).Hours()/24))
}
