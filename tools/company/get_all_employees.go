package company

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"toolnorm/internal/store"
	"toolnorm/tools"
)

//go:embed get_all_employees.md
var getAllEmployeesText string

// mostListed is the largest number of employees in one result. The query asks for one more, to find
// out whether there are more; "truncated" then tells a model that the list is not complete.
const mostListed = 1000

// getAllEmployees returns the tool that lists the employees. It has no parameters, because a model
// that does not know an id begins here, and the errors of the other tools lead here.
func (c *Company) getAllEmployees() tools.Tool {
	return tools.Tool{
		Name: "get_all_employees", Title: "List all employees", Description: getAllEmployeesText,
		Hints: hints(),
		Schema: json.RawMessage(
			`{"type": "object", "additionalProperties": false, "properties": {}}`),
		Output: json.RawMessage(`{"type": "object", "required": ["employees", "truncated"],
			"properties": {"employees": {"type": "array", "items": {"type": "object", "required": ["id", "name"],
				"properties": {"id": {"type": "string"}, "name": {"type": "string"}}}},
				"truncated": {"type": "boolean", "description": "there are more than these"}}}`),
		Call: tools.Typed(c.employees),
	}
}

// listed is an employee in a list, with only id and name, so that a list of all employees stays
// short in a model's context. get_employee_info returns the rest.
type listed struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// listedEmployees is the result of the tool get_all_employees. It is an object and not a list,
// since the structured result of an MCP tool must be an object.
type listedEmployees struct {
	Employees []listed `json:"employees"`
	Truncated bool     `json:"truncated"`
}

// employees returns all employees, but at most mostListed. They are in the order of their ids, so
// that a cut list always has the same part. It returns an error if the database fails.
func (c *Company) employees(ctx context.Context, _ struct{}) (list listedEmployees, err error) {
	all, err := store.Read(ctx, c.db, nil, func(r *store.Row) (e listed, err error) {
		err = r.Scan(store.Needed(&e.ID), store.Named(&e.Name))
		return e, err
	}, fmt.Sprintf("SELECT id, name FROM employees ORDER BY id LIMIT %d", mostListed+1))
	if err != nil {
		return list, fmt.Errorf("read the employees: %w", err)
	}
	list.Employees = append([]listed{}, all...)
	if len(list.Employees) > mostListed {
		list.Employees, list.Truncated = list.Employees[:mostListed], true
	}
	return list, nil
}
