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

// topic is the topic of the notices that replicas listen for.
const topic = "custom_tools"

// maxTools bounds how many tools there are: with a thousand a list of tools is larger
// than any model's context.
const maxTools = 1000

// asker is a DB or a Tx.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// toolColumns are the columns that are read of a tool and a parameter, each as text: in another
// program's tables they may be empty, a BOOLEAN or a TIMESTAMP.
var toolColumns = []string{"t.id", "t.name", "t.description_agent", "t.description_user",
	"t.tool_type", "t.definition", "t.is_active", "t.reg_dt", "t.created_by",
	"(SELECT coalesce(max(v.version), 0) FROM h_custom_tool_version v WHERE v.tool_id = t.id)",
	"p.tool_id", "p.param_name", "p.param_type", "p.is_required", "p.description"}

// longestColumn is the most characters that are read of a column: more than any tool may have, and
// less than a column that was filled by mistake.
const longestColumn = 500_000

// readTools reads all tools in the order of their ids, or the one with an id. It is one
// statement, so that no change falls between a tool and its parameters. The version is
// the number of the newest snapshot; a row that another program wrote has none, and is
// version 0 until it is saved here. A fault in a row becomes the Problem of that tool.
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
		// a parameter without a name is kept, or the tool would look whole
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
		all[i].attach() // one that another program has removed is gone with what was said of it
	}
	return all, readContracts(ctx, in, all, id)
}

// toolOf makes the tool of a row. An empty column is an empty text.
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

// of reports whether a row with its next parameter is of the same tool as the row before. If ids
// are not unique, two tools may have the same.
func (t *Tool) of(before *Tool) bool {
	return t.ID == before.ID && t.Name == before.Name && t.Definition == before.Definition
}

// truth reads Y and N, and what other programs write for them.
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

// now returns the time as the tables have it.
func now() string { return time.Now().UTC().Format(time.RFC3339) }

// insert writes a new tool, and gives it its id.
// RETURNING works on both, where LastInsertId is SQLite's alone.
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

// insertParams writes the parameters, whose order is that of their ids.
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

// update writes a tool over. Parameters are written anew, since their order is that of
// their ids and an edit may have moved them.
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

// remember saves the current state of a tool as a version, with its author, and notifies the
// replicas. version is the previous version. The notice is sent when the transaction is committed,
// so no replica reads before the change is there.
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

// Version is a former state of a tool.
type Version struct {
	Version int    `json:"version"`
	SavedAt string `json:"saved_at"`
	SavedBy string `json:"saved_by"`
	Action  string `json:"action"`
	Tool    Draft  `json:"tool"`
}

// longestSnapshot is the most bytes of a snapshot. A definition may have half a megabyte.
const longestSnapshot = 4 << 20

// mostVersions is the most versions that are shown; older ones stay in the table.
const mostVersions = 200

// readVersions lists the versions of a tool, newest first.
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

// Entry is a line of the audit: one change of a tool.
type Entry struct {
	ID      int    `json:"id"`
	At      string `json:"at"`
	Who     string `json:"who"`
	Action  string `json:"action"`
	ToolID  int    `json:"tool_id"`
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// MostEntries is the most lines of the audit that are read at once.
const MostEntries = 200

// readAudit reads the last lines of the audit that are older than a line, newest first; 0: the
// newest.
func readAudit(ctx context.Context, in asker, before int) (all []Entry, err error) {
	return store.Read(ctx, in, nil, func(r *store.Row) (e Entry, err error) {
		err = r.Scan(store.Whole(&e.ID), store.Named(&e.At), store.Named(&e.Who),
			store.Named(&e.Action), store.Whole(&e.ToolID), store.Named(&e.Name),
			store.Whole(&e.Version))
		return e, err
	},
		"SELECT id, at, who, action, tool_id, name, version FROM h_custom_tool_audit WHERE $1 = 0 OR id < $1 ORDER BY id DESC LIMIT $2", before, MostEntries)
}

// free returns an error if another tool than id has a name, in upper or lower case: models are
// careless with it, and a call of Get_limit would find whichever of two came first. It looks inside
// the transaction, in which no one else writes, so the UNIQUE of the table never has to refuse the
// name: its error has other words in each database.
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

// current returns the tool that is to be changed, if it is still at that version; a version of 0
// means whatever version it has now. Reading and writing are one transaction: of two editors who
// save the same version at once the second always gets an error.
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
