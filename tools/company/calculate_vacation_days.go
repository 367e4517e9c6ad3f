package company

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/internal/store"
	"toolnorm/tools"
)

//go:embed calculate_vacation_days.md
var calculateVacationDaysText string

// calculateVacationDays returns the tool that calculates how much of a year's leave is left. The
// year has bounds in the schema, so that a model that writes a date or a two-digit year gets an
// error before anything is looked up.
func (c *Company) calculateVacationDays() tools.Tool {
	return tools.Tool{
		Name: "calculate_vacation_days", Title: "Calculate vacation days",
		Description: calculateVacationDaysText, Hints: hints(),
		Schema: json.RawMessage(
			`{"type": "object", "required": ["employee_id", "year"], "additionalProperties": false, "properties": {` + idProperty + `,
			"year": {"type": "integer", "minimum": 1900, "maximum": 9999, "description": "Calendar year, e.g. 2026"}}}`),
		Output: json.RawMessage(
			`{"type": "object", "required": ["employee_id", "year", "total", "used", "remaining"],
			"properties": {"employee_id": {"type": "string"}, "year": {"type": "integer"}, "total": {"type": "number"}, "used": {"type": "number"},
				"remaining": {"type": "number", "description": "total minus used"}}}`),
		Call: tools.Typed(c.vacation),
	}
}

// vacation is the leave of an employee in a year, in days. Days are floats, since half a day is
// 0.5.
type vacation struct {
	EmployeeID string  `json:"employee_id"`
	Year       int     `json:"year"`
	Total      float64 `json:"total"`
	Used       float64 `json:"used"`
	Remaining  float64 `json:"remaining"`
}

// vacation returns the leave of an employee in a year. The remaining days are neither rounded nor
// bounded, since the company has to know if more days were used than there were. If there is no
// data, it returns an error that explains why (see noVacation). It returns another error if the
// database fails.
func (c *Company) vacation(ctx context.Context, in struct {
	ID   string  `json:"employee_id"`
	Year float64 // 2026.0 is an integer, too
}) (v vacation, err error) {
	v = vacation{EmployeeID: canonical(in.ID), Year: int(in.Year)}
	row := c.db.QueryRowContext(ctx,
		"SELECT total, used FROM vacations WHERE employee_id = $1 AND year = $2", v.EmployeeID,
		v.Year)
	// A missing row does not mean zero days: the model must not tell an employee so.
	switch err = row.Scan(&v.Total, &v.Used); {
	case errors.Is(err, sql.ErrNoRows):
		return v, c.noVacation(ctx, v.EmployeeID, v.Year)
	case err != nil:
		return v, fmt.Errorf("read the vacation of %s: %w", v.EmployeeID, err)
	}
	v.Remaining = v.Total - v.Used
	return v, nil
}

// noVacation returns an error that explains why there is no data about an employee's leave in a
// year: the id does not exist, or the year has no data. The error lists the years that have data. A
// model that reads them asks again, while a model that reads "no rows" invents a number.
func (c *Company) noVacation(ctx context.Context, id string, year int) error {
	var there int
	if err := c.db.QueryRowContext(ctx, "SELECT count(*) FROM employees WHERE id = $1", id).Scan(
		&there); err != nil {
		return fmt.Errorf("read employee %s: %w", id, err)
	}
	// Which of the two is wrong decides what the model does next: look for the id, or ask for
	// another year.
	if there == 0 {
		return unknownEmployee(id)
	}
	years, err := store.Read(ctx, c.db, nil, func(r *store.Row) (string, error) {
		var y int
		err := r.Scan(store.Whole(&y))
		return strconv.Itoa(y), err
	}, "SELECT year FROM vacations WHERE employee_id = $1 ORDER BY year", id)
	if err != nil {
		return fmt.Errorf("read the vacations of %s: %w", id, err)
	}
	if len(years) == 0 {
		return fmt.Errorf("there is no vacation data for %s", id)
	}
	return fmt.Errorf("there is no vacation data for %s in %d; there is for %s", id, year,
		strings.Join(years, ", "))
}
