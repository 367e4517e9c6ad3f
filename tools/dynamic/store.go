package dynamic

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolnorm/internal/fault"
	"toolnorm/internal/store"
)

// topic is the topic of the notifications about changes, for which replicas listen.
const topic = "custom_tools"

// maxTools bounds how many tools there may be. A list of a thousand tools is larger than any
// model's context.
const maxTools = 1000

// asker is what queries run on: a database (*store.DB) or a transaction (*store.Tx).
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// toolColumns are the columns that are read of a tool and its parameters. Each is read as text,
// because in another program's tables it may be empty, a BOOLEAN or a TIMESTAMP.
var toolColumns = []string{"t.id", "t.name", "t.description_agent", "t.description_user",
	"t.tool_type", "t.definition", "t.is_active", "t.reg_dt", "t.created_by",
	"(SELECT coalesce(max(v.version), 0) FROM h_custom_tool_version v WHERE v.tool_id = t.id)",
	"p.tool_id", "p.param_name", "p.param_type", "p.is_required", "p.description"}

// longestColumn is how many characters of a column are read. It is more than any tool may have, and
// less than a column that was filled by mistake.
const longestColumn = 500_000

// readTools returns all tools in the order of their ids, or only the tool with the given id if that
// is not 0. It uses one statement, so that no change happens between reading a tool and its
// parameters. A tool's version is the number of its newest snapshot; a row that another program
// wrote has version 0 until it is saved here. A mistake in a row becomes the Problem of that tool.
// readTools returns an error if the tables cannot be read.
func readTools(ctx context.Context, in asker, id int) (all []Tool, err error) {
	var columns []string
	for _, one := range toolColumns {
		columns = append(columns, fmt.Sprintf("substr(CAST(%s AS TEXT), 1, %d)", one,
			longestColumn))
	}
	rows, err := in.QueryContext(ctx, "SELECT "+strings.Join(columns, ", ")+
		` FROM h_custom_tool t LEFT JOIN h_custom_tool_param p ON p.tool_id = t.id
		WHERE t.id = $1 OR $1 = 0 ORDER BY t.id, p.id`, id)
	if err != nil {
		return nil, fmt.Errorf("read the custom tools: %w", err)
	}
	defer rows.Close()
	cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("read the custom tools: %w", err)
		}
		if t := toolOf(cells); len(all) == 0 || !t.of(&all[len(all)-1]) {
			all = append(all, t)
		}
		// a parameter without a name is kept, since the tool would look valid without it
		if p := cells[len(cells)-5:]; p[0].Valid {
			last := &all[len(all)-1]
			last.Params = append(last.Params, Param{Name: p[1].String, Type: typeName(p[2].String),
				Required: truth(p[3].String), Description: p[4].String})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].attach() // drops the details of parameters that another program has removed
	}
	return all, readContracts(ctx, in, all, id)
}

// toolOf converts a row into a tool. NULL becomes an empty text. If the id or the definition cannot
// be read, the tool has a Problem.
func toolOf(cells []sql.NullString) Tool {
	t := Tool{RegDT: cells[7].String, CreatedBy: cells[8].String, Draft: Draft{
		Name: cells[1].String, DescriptionAgent: cells[2].String, DescriptionUser: cells[3].String,
		Type: strings.ToUpper(strings.TrimSpace(cells[4].String)), Definition: cells[5].String,
		Active: truth(cells[6].String), Params: []Param{},
	}}
	var err error
	if t.ID, err = strconv.Atoi(cells[0].String); err != nil {
		t.Problem = fmt.Sprintf("its id is no number: %.40q", cells[0].String)
	}
	t.Version, _ = strconv.Atoi(cells[9].String)
	if err := t.unpack(); err != nil {
		t.Problem = fmt.Sprintf("its definition cannot be read: %v", err)
	}
	return t
}

// of reports whether t, read from one row, and the parameter before, read from the row above, are
// the same tool. Besides the ids it compares the names and the definitions, since two tools may
// have the same id in a table that another program made.
func (t *Tool) of(before *Tool) bool {
	return t.ID == before.ID && t.Name == before.Name && t.Definition == before.Definition
}

// truth parses a boolean: Y or N, or what other programs write for them. Any other text is false.
func truth(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "t", "true", "1":
		return true
	}
	return false
}

// yes returns "Y" or "N", as the tables store a boolean.
func yes(b bool) string {
	if b {
		return "Y"
	}
	return "N"
}

// now returns the current time in the form in which the tables store it.
func now() string { return time.Now().UTC().Format(time.RFC3339) }

// insert writes a new tool and returns its id, or an error if the store fails. It uses RETURNING,
// which both databases support, while LastInsertId exists only for SQLite.
func insert(ctx context.Context, in asker, d *Draft, who string) (id int, err error) {
	err = in.QueryRowContext(ctx,
		`INSERT INTO h_custom_tool (name, description_agent, description_user, tool_type, definition, is_active, reg_dt, created_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		d.Name, d.DescriptionAgent, d.DescriptionUser, d.Type, d.stored(), yes(d.Active), now(),
		who).Scan(&id)
	if err != nil {
		return 0, err
	}
	return id, insertParams(ctx, in, id, d)
}

// insertParams writes the parameters of a tool, in their order, its examples, and the record of the
// tables that it queries. It returns an error if the store fails or does not allow a parameter's
// type.
func insertParams(ctx context.Context, in asker, id int, d *Draft) error {
	for _, p := range d.Params {
		if _, err := in.ExecContext(ctx,
			"INSERT INTO h_custom_tool_param (tool_id, param_name, param_type, is_required, description) VALUES ($1, $2, $3, $4, $5)",
			id, p.Name, p.Type, yes(p.Required), p.Description); err != nil {
			if !slices.Contains(firstTypes, p.Type) { // another program's table may take no others
				err = &fault.Error{Kind: fault.Invalid, Message: fmt.Sprintf(
					"the table h_custom_tool_param does not take the type %s: %v", p.Type, err),
					Param: "params", Code: "invalid_tool"}
			}
			return err
		}
	}
	return writeContract(ctx, in, id, d)
}

// update replaces the row of a tool. The parameters are deleted and written again, since they are
// read in the order of their ids, and an edit may have moved them. It returns an error if the store
// fails.
func update(ctx context.Context, in asker, id int, d *Draft) error {
	if _, err := in.ExecContext(ctx,
		`UPDATE h_custom_tool SET name = $2, description_agent = $3, description_user = $4, tool_type = $5, definition = $6, is_active = $7
		WHERE id = $1`, id, d.Name, d.DescriptionAgent, d.DescriptionUser, d.Type, d.stored(), yes(d.Active)); err != nil {
		return err
	}
	if _, err := in.ExecContext(ctx, "DELETE FROM h_custom_tool_param WHERE tool_id = $1",
		id); err != nil {
		return err
	}
	return insertParams(ctx, in, id, d)
}

// remember saves the current state of a tool as a new version, with its author, and notifies the
// replicas. The parameter version is the previous version. The notification is sent when the
// transaction is committed, so that no replica reads before the change is visible. It returns an
// error if the store fails.
func remember(ctx context.Context, db *store.DB, tx *store.Tx, id, version int, d *Draft, who,
	action string) error {
	d.Version, d.Force = 0, false // of no meaning in a snapshot, whose row has the version
	snapshot, err := json.Marshal(d)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		statement string
		values    []any
	}{
		{
			"INSERT INTO h_custom_tool_version (tool_id, version, snapshot, saved_at, saved_by, action) VALUES ($1, $2, $3, $4, $5, $6)", []any{id, version + 1, string(snapshot), now(), who, action}},
		{
			"INSERT INTO h_custom_tool_audit (at, who, action, tool_id, name, version) VALUES ($1, $2, $3, $4, $5, $6)", []any{now(), who, action, id, d.Name, version + 1}},
		{"UPDATE h_custom_tool_change SET n = n + 1", nil},
	} {
		if _, err := tx.ExecContext(ctx, step.statement, step.values...); err != nil {
			return err
		}
	}
	return db.Notify(ctx, tx, topic)
}

// Version is a saved state of a tool.
type Version struct {
	Version int    `json:"version"`
	SavedAt string `json:"saved_at"`
	SavedBy string `json:"saved_by"`
	Action  string `json:"action"`
	Tool    Draft  `json:"tool"`
}

// longestSnapshot bounds a snapshot in bytes. A definition may have half a megabyte.
const longestSnapshot = 4 << 20

// mostVersions is how many versions are listed; older ones stay in the table.
const mostVersions = 200

// readVersions returns the latest versions of a tool, newest first. It returns an error if the
// table cannot be read; a snapshot that cannot be decoded is noted in its version's Action.
func readVersions(ctx context.Context, in asker, id int) (all []Version, err error) {
	return store.Read(ctx, in, nil, func(r *store.Row) (v Version, err error) {
		var snapshot string
		err = r.Scan(store.Whole(&v.Version), store.Named(&v.SavedAt), store.Named(&v.SavedBy),
			store.Named(&v.Action), store.Text(&snapshot, longestSnapshot))
		if wrong := json.Unmarshal([]byte(snapshot), &v.Tool); err == nil && wrong != nil {
			v.Action += fmt.Sprintf(" (cannot be read: %v)", wrong)
		}
		return v, err
	},
		"SELECT version, saved_at, saved_by, action, snapshot FROM h_custom_tool_version WHERE tool_id = $1 ORDER BY version DESC LIMIT $2", id, mostVersions)
}

// Entry is one entry of the audit log: one change of a tool or a set.
type Entry struct {
	ID      int    `json:"id"`
	At      string `json:"at"`
	Who     string `json:"who"`
	Action  string `json:"action"`
	ToolID  int    `json:"tool_id"`
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// MostEntries is the largest number of audit entries that are read at once.
const MostEntries = 200

// free returns a conflict if a tool other than the one with the given id has the name, in upper or
// lower case. Models are careless with case, so two tools whose names differ only in case could be
// confused. It runs inside the transaction, in which no one else writes, so the table's UNIQUE
// constraint never has to refuse the name; its error would differ between databases. free returns
// another error if the store fails.
func free(ctx context.Context, in asker, name string, id int) error {
	var other int
	var known string
	err := in.QueryRowContext(ctx,
		"SELECT id, name FROM h_custom_tool WHERE lower(name) = lower($1) AND id <> $2 ORDER BY id LIMIT 1", name, id).Scan(&other, &known)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	text := fmt.Sprintf("there is a tool %s already, number %d", known, other)
	if known != name {
		text += ", and names that differ by case alone are one to models"
	}
	return &fault.Error{Kind: fault.Conflict, Message: text, Param: "name", Code: "name_taken"}
}

// current returns the tool with the given id, which is to be changed. If version is not 0 and not
// the tool's current version, it returns a conflict. If there is no such tool, it returns a
// not-found fault. The caller reads and writes in one transaction, so of two editors who save the
// same version at once, the second always gets an error.
func current(ctx context.Context, in asker, id, version int) (*Tool, error) {
	found, err := readTools(ctx, in, id)
	switch {
	case err != nil:
		return nil, err
	case id <= 0 || len(found) == 0:
		return nil, fault.New(fault.NotFound, "there is no tool number %d", id)
	case version != 0 && version != found[0].Version:
		return nil, &fault.Error{Kind: fault.Conflict, Message: fmt.Sprintf(
			"somebody else saved %s meanwhile: it is at version %d, and this was made from %d",
			found[0].Name, found[0].Version, version), Param: "version", Code: "version_conflict"}
	}
	return &found[0], nil
}
