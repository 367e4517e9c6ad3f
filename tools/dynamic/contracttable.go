package dynamic

import (
	"context"
	"encoding/json"
	"fmt"
)

// contractTables creates the tables for sets of tools, and for the examples and shapes of tools
// (see shape). The columns examples and tools are JSON, read and written as a whole.
const contractTables = `
CREATE TABLE h_custom_tool_contract (tool_id INTEGER PRIMARY KEY, examples TEXT NOT NULL, shape TEXT NOT NULL);
CREATE TABLE h_custom_toolset (
	name TEXT PRIMARY KEY,
	description TEXT NOT NULL,
	read_only TEXT NOT NULL,
	tools TEXT NOT NULL,
	version INTEGER NOT NULL,
	saved_at TEXT NOT NULL,
	saved_by TEXT NOT NULL
);`

// confirmColumn adds the column for whether a set asks for confirmation.
const confirmColumn = "ALTER TABLE h_custom_toolset ADD COLUMN confirm TEXT NOT NULL DEFAULT 'N';"

// readContracts reads the examples and the shape of each tool in the list all, and stores them in
// the tool. The shape is the tables that the tool queries and their columns. If id is not 0, it
// reads only those of the tool with that id. Examples that cannot be decoded are replaced by one
// example with the error as its text. It returns an error if the table cannot be read.
func readContracts(ctx context.Context, in asker, all []Tool, id int) error {
	if len(all) == 0 {
		return nil
	}
	rows, err := in.QueryContext(ctx,
		"SELECT tool_id, examples, shape FROM h_custom_tool_contract WHERE tool_id = $1 OR $1 = 0",
		id)
	if err != nil {
		return fmt.Errorf("read the examples of tools: %w", err)
	}
	defer rows.Close()
	byID := map[int]*Tool{}
	for i := range all {
		byID[all[i].ID] = &all[i]
	}
	for rows.Next() {
		var id int
		var examples, shape string
		if err := rows.Scan(&id, &examples, &shape); err != nil {
			return fmt.Errorf("read the examples of tools: %w", err)
		}
		t := byID[id]
		if t == nil {
			continue
		}
		if err := json.Unmarshal([]byte(examples), &t.Examples); err != nil {
			t.Examples = []Example{{Contains: "the examples cannot be read: " + err.Error()}}
		}
		t.shape = shape
	}
	return rows.Err()
}

// writeContract replaces in the store the examples of a tool, and the record of the tables that it
// queries. It returns an error if the store fails.
func writeContract(ctx context.Context, in asker, id int, d *Draft) error {
	if err := removeContract(ctx, in, id); err != nil || len(d.Examples) == 0 && d.shape == "" {
		return err
	}
	examples, err := json.Marshal(append([]Example{}, d.Examples...))
	if err != nil {
		return err
	}
	_, err = in.ExecContext(ctx,
		"INSERT INTO h_custom_tool_contract (tool_id, examples, shape) VALUES ($1, $2, $3)", id,
		string(examples), d.shape)
	return err
}

// removeContract removes from the store the examples of a tool, and the record of the tables that
// it queries. It returns an error if the store fails.
func removeContract(ctx context.Context, in asker, id int) error {
	_, err := in.ExecContext(ctx, "DELETE FROM h_custom_tool_contract WHERE tool_id = $1", id)
	return err
}
