package data

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"toolnorm/internal/sqlsafe"
	"toolnorm/tools"
)

//go:embed execute_postgres_query.md
var executePostgresQueryText string

// executePostgresQuery returns the tool that runs a SELECT. No setting can switch off the check of
// statements.
func (d *Data) executePostgresQuery() tools.Tool {
	return tools.Tool{
		Name: "execute_postgres_query", Title: "Query PostgreSQL",
		Description: executePostgresQueryText, Hints: hints(true),
		// the first call compiles the parser: two seconds, and twenty where all processors are busy
		Timeout: d.config.SQLTime + time.Minute,
		Schema: json.RawMessage(
			`{"type": "object", "required": ["sql_query"], "additionalProperties": false, "properties": {
			"sql_query": {"type": "string", "description": "One complete PostgreSQL SELECT, e.g. SELECT user_id, email FROM users WHERE created_at > '2024-01-01' LIMIT 10"}}}`),
		Output: json.RawMessage(
			`{"type": "object", "required": ["status", "message"], "properties": {
			"status": {"type": "string", "enum": ["success", "error"]}, "message": {"type": "string"}, "sqlstate": {"type": "string"},
			"data": {"type": "object", "required": ["type", "content"], "properties": {"type": {"type": "string"}, "content": {"type": "object", "required": ["sql", "records"],
				"properties": {"sql": {"type": "string"}, "records": {"type": "array", "items": {"type": "object"}}, "columns": {"type": "array", "items": {"type": "string"}},
					"row_count": {"type": "integer"}, "truncated": {"type": "boolean", "description": "there is more than this"}}}}}}}`),
		Call: d.query,
	}
}

// queried is the result of execute_postgres_query. The names and messages are the specification's,
// and sqlstate, columns, row_count and truncated are additions.
type queried struct {
	Status   string    `json:"status"`
	Message  string    `json:"message"`
	SQLState string    `json:"sqlstate,omitempty"`
	Data     *csvTable `json:"data,omitempty"`
}

// csvTable is a table in a result, which a client can convert to CSV. Its Type is "csv_table".
type csvTable struct {
	Type    string  `json:"type"`
	Content content `json:"content"`
}

// content is the table in the result of execute_postgres_query. SQL is the statement as the caller
// sent it, without the cursor with which it is run.
type content struct {
	SQL     string            `json:"sql"`
	Records []json.RawMessage `json:"records"`
	// in order, because many clients lose the order of an object's members
	Columns   []string `json:"columns"`
	RowCount  int      `json:"row_count"`
	Truncated bool     `json:"truncated"`
}

// query runs the statement in args and logs it. A statement that fails is not a Go error. Its
// result describes the failure, with isError for MCP clients, and with status for agents that
// follow the specification. query returns an error only if args cannot be read or the result cannot
// be encoded.
func (d *Data) query(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	var in struct {
		SQL string `json:"sql_query"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return tools.Result{}, err
	}
	start := time.Now()
	table, err := d.table(ctx, in.SQL)
	out, note := queried{Status: "success", Message: "SQL executed."}, Audit{Statement: fmt.Sprintf(
		"%.8x", sha256.Sum256([]byte(in.SQL))), Outcome: "ok"}
	if err != nil {
		out = failedResult(err)
		if note.Outcome = out.SQLState; note.Outcome == "" {
			note.Outcome = "refused"
		}
	} else {
		note.Rows = len(table.Records)
		out.Data = &csvTable{"csv_table", content{in.SQL, table.Records, table.Columns, note.Rows,
			table.Truncated}}
	}
	note.Millis = time.Since(start).Milliseconds()
	d.audit(ctx, note)
	res, wrong := tools.JSONOf(out)
	res.IsError = err != nil
	return res, wrong
}

// table runs a statement and returns its rows. It returns an error if the statement fails. If no
// database is configured, the error names all missing settings.
func (d *Data) table(ctx context.Context, sql string) (*sqlsafe.Table, error) {
	if missing := d.config.missingSQL(); len(missing) > 0 {
		return nil, fmt.Errorf("no database is set: %s is missing", strings.Join(missing, ", "))
	}
	return d.postgres.Query(ctx, sql)
}

// identifiers matches names in double quotes in PostgreSQL's messages. The specification has single
// quotes.
var identifiers = regexp.MustCompile(`"([^"]*)"`)

// failedResult returns the result for a statement that failed, with the server's message. Names in
// the message get single quotes, as in the specification's example "relation 'users' does not
// exist".
func failedResult(err error) queried {
	out := queried{Status: "error"}
	text := err.Error()
	var said *pgconn.PgError
	var refused *sqlsafe.Refusal
	switch {
	case errors.As(err, &said):
		text, out.SQLState = identifiers.ReplaceAllString(said.Message, "'$1'"), said.Code
	case errors.As(err, &refused):
		text, out.SQLState = identifiers.ReplaceAllString(text, "'$1'"), refused.Code
	}
	out.Message = "Error while querying DB: " + text
	return out
}
