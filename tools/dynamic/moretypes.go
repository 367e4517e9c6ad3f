package dynamic

import (
	"context"
	"strings"

	"toolnorm/internal/store"
)

// moreTypes is the migration that allows more than three types of parameters. The constraint of the
// table that this program made allowed only three. A table that another program made stays as it
// is; if it allows only three, parameters of other types cannot be saved there.
var moreTypes = store.Step{Name: "types", Do: func(ctx context.Context, tx *store.Tx) error {
	if tx.Kind == store.Postgres {
		return dropTypeCheck(ctx, tx)
	}
	var made string
	err := tx.QueryRowContext(ctx,
		"SELECT coalesce(max(sql), '') FROM sqlite_master WHERE type = 'table' AND name = 'h_custom_tool_param'").Scan(&made)
	if err != nil || !strings.Contains(made, typeCheck) {
		return err
	}
	// SQLite cannot drop a constraint, so the table is written anew.
	anew := strings.Replace(made, typeCheck, "", 1)
	anew = strings.Replace(anew, "h_custom_tool_param", "h_custom_tool_param_new", 1)
	for _, statement := range []string{
		anew,
		"INSERT INTO h_custom_tool_param_new SELECT * FROM h_custom_tool_param",
		"DROP TABLE h_custom_tool_param",
		"ALTER TABLE h_custom_tool_param_new RENAME TO h_custom_tool_param",
		"CREATE INDEX h_custom_tool_param_tool ON h_custom_tool_param (tool_id)",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}}

// firstTypes lists the types that the specification's table allows.
var firstTypes = []string{typeString, typeNumber, typeBoolean}

// typeCheck is the constraint on the type in the first version of the table.
const typeCheck = " CHECK (param_type IN ('STRING', 'NUMBER', 'BOOLEAN'))"

// dropTypeCheck drops the constraint on parameter types from a table in PostgreSQL, if there is one
// and the table belongs to this program's role. It returns an error if the database fails.
func dropTypeCheck(ctx context.Context, tx *store.Tx) error {
	var ours int
	err := tx.QueryRowContext(ctx,
		`SELECT count(*) FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
		WHERE t.oid = to_regclass('h_custom_tool_param') AND c.conname = 'h_custom_tool_param_param_type_check'
		AND pg_catalog.pg_has_role(t.relowner, 'USAGE')`).Scan(&ours)
	if err != nil || ours == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx,
		"ALTER TABLE h_custom_tool_param DROP CONSTRAINT h_custom_tool_param_param_type_check")
	return err
}
