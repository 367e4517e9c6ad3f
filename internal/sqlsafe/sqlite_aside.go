package sqlsafe

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"toolnorm/internal/aside"
)

// sqliteReader reads SQLite files in separate processes, because one step of SQLite's machine may
// take seconds and cannot be interrupted, and its memory is not given back.
var sqliteReader = aside.New("SQLite", aside.Limits{Processes: connections, Memory: 40 << 20,
	Together: 40 << 20, Keep: 12 << 20}, nil, sqliteWork)

// SQLiteDB is a file that is only read. It may be used by several goroutines at once.
type SQLiteDB struct{ config SQLiteConfig }

// sqliteAsked is a request to a separate process, which reads SQLite files.
type sqliteAsked struct {
	Config SQLiteConfig
	What   string // "open", "ask", "check" or "relations"
	SQL    string
	Values []sqliteArg
	Limits Limits
}

// sqliteArg is a value with its type, which JSON alone would lose.
type sqliteArg struct {
	Name, Kind string
	Text       []byte
}

// sqliteAnswer is the answer of a separate process to a sqliteAsked.
type sqliteAnswer struct {
	Table     *Table
	Relations []Relation
	Refused   *Refusal
	Late      time.Duration
	Big       int
	Wrong     string // the text of any other error
}

// OpenSQLite opens an existing file. It fails if the file cannot be read.
func OpenSQLite(ctx context.Context, c SQLiteConfig) (*SQLiteDB, error) {
	c.Limits = c.Limits.filled()
	s := &SQLiteDB{c}
	_, err := s.do(ctx, sqliteAsked{What: "open", Limits: Limits{Time: openWait}})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openWait is the longest time that opening a file may take.
const openWait = 30 * time.Second

// Close does nothing and returns nil. A process closes its files when it ends, and it ends when it
// is idle.
func (s *SQLiteDB) Close() error { return nil }

// Query runs one SELECT with the values of its parameters, within the limits of the connection. If
// the statement may not be run, the error is a *Refusal, as for Ask.
func (s *SQLiteDB) Query(ctx context.Context, query string, values ...sql.NamedArg) (
	*Table, error) {
	return s.Ask(ctx, Statement{SQL: query, Values: values})
}

// Ask runs one SELECT and returns its rows. If the statement may not be run, the error is a
// *Refusal.
func (s *SQLiteDB) Ask(ctx context.Context, q Statement) (*Table, error) {
	a, err := s.statement(ctx, "ask", q)
	return a.Table, err
}

// Describe returns the columns of a statement without running it, or nil if they cannot be
// determined. It fails if Ask would refuse the statement or SQLite cannot compile it.
func (s *SQLiteDB) Describe(ctx context.Context, q Statement) (*Table, error) {
	a, err := s.statement(ctx, "check", q)
	return a.Table, err
}

// Relations returns the tables and views that statements may read, sorted by name. It fails if the
// file cannot be read in time.
func (s *SQLiteDB) Relations(ctx context.Context) ([]Relation, error) {
	a, err := s.do(ctx, sqliteAsked{What: "relations", Limits: Limits{Time: exploreWait}})
	return a.Relations, err
}

// statement sends a request about a statement to a process and returns the answer. It fails with a
// *Refusal if the text is not readable or a value cannot be sent, and otherwise with the errors of
// the method do.
func (s *SQLiteDB) statement(ctx context.Context, what string, q Statement) (sqliteAnswer, error) {
	if r := readable(q.SQL); r != nil { // JSON would change the text
		return sqliteAnswer{}, r
	}
	q.SQL = SQLite.plain(q.SQL)
	asked := sqliteAsked{What: what, SQL: q.SQL, Limits: q.Limits.or(s.config.Limits)}
	for _, v := range q.Values {
		one := sqliteArg{Name: v.Name, Text: fmt.Append(nil, v.Value)}
		switch v := v.Value.(type) {
		case nil:
			one.Kind = "null"
		case string:
			one.Kind = "text"
		case bool:
			one.Kind = "bool"
		case int64:
			one.Kind = "int"
		case float64:
			one.Kind, one.Text = "float", strconv.AppendFloat(nil, v, 'g', -1, 64)
		case Decimal:
			one.Kind = "decimal"
		default:
			return sqliteAnswer{}, refuse(q.SQL, -1, "the value of :%s cannot be sent", one.Name)
		}
		asked.Values = append(asked.Values, one)
	}
	return s.do(ctx, asked)
}

// grace is how much longer than its time limit a statement may take before its process is killed.
// In that time SQLite usually stops the statement itself.
const grace = 500 * time.Millisecond

// do sends a request to a process and returns the answer. The errors that the process reports keep
// their types.
func (s *SQLiteDB) do(ctx context.Context, asked sqliteAsked) (a sqliteAnswer, err error) {
	asked.Config = s.config
	request, err := json.Marshal(asked)
	if err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, asked.Limits.Time+grace, late(asked.Limits.Time))
	defer cancel()
	answer, err := sqliteReader.Do(ctx, request)
	var ended *aside.Ended
	if errors.As(err, &ended) && ended.Memory {
		return a, tooMuch{}
	}
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return a, fmt.Errorf("read what SQLite gave: %w", err)
	}
	switch {
	case a.Refused != nil:
		a.Refused.sql = asked.SQL
		return a, a.Refused
	case a.Late > 0:
		return a, late(a.Late)
	case a.Big > 0:
		return a, tooBig(a.Big)
	case a.Wrong != "":
		return a, errors.New(a.Wrong)
	}
	return a, nil
}

// tooMuch is the error for a statement that needs more memory than is allowed.
type tooMuch struct{}

// Error implements error: it returns a sentence that says what to do.
func (tooMuch) Error() string {
	return "the statement needs more memory than it may have; ask for less"
}

// sqliteFiles are the open files of this process, by their configurations as JSON.
var sqliteFiles = map[string]*sqliteFile{}

// mostFiles is the largest number of open files of a process.
const mostFiles = 16

// sqliteWork answers a request for a statement. It runs in the separate process that reads the
// files. If the statement fails, the error is a part of the answer. sqliteWork returns an error
// only if the request cannot be decoded or the answer encoded.
func sqliteWork(request []byte) ([]byte, error) {
	var asked sqliteAsked
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, err
	}
	var a sqliteAnswer
	err := sqliteDo(&asked, &a)
	var refused *Refusal
	var slow late
	var big tooBig
	switch {
	case errors.As(err, &refused):
		a.Refused = refused
	case errors.As(err, &slow):
		a.Late = time.Duration(slow)
	case errors.As(err, &big):
		a.Big = int(big)
	case err != nil:
		a.Wrong = err.Error()
	}
	return json.Marshal(a)
}

// sqliteDo carries out the request asked and writes the result to a. It returns an error if the
// file cannot be opened or the statement fails.
func sqliteDo(asked *sqliteAsked, a *sqliteAnswer) error {
	key, err := json.Marshal(asked.Config)
	if err != nil {
		return err
	}
	ctx := context.Background()
	file := sqliteFiles[string(key)]
	if file == nil {
		if file, err = openSQLiteFile(ctx, asked.Config); err != nil {
			return err
		}
		for old, one := range sqliteFiles {
			if len(sqliteFiles) >= mostFiles {
				_ = one.close()
				delete(sqliteFiles, old)
			}
		}
		sqliteFiles[string(key)] = file
	}
	q := Statement{SQL: asked.SQL, Limits: asked.Limits}
	for _, one := range asked.Values {
		v, err := one.value()
		if err != nil {
			return err
		}
		q.Values = append(q.Values, sql.Named(one.Name, v))
	}
	switch asked.What {
	case "ask":
		a.Table, err = file.ask(ctx, q)
	case "check":
		a.Table, err = file.check(ctx, q)
	case "relations":
		a.Relations, err = file.relations(ctx)
	}
	return err
}

// value returns the decoded value, or nil for NULL. It fails if a number cannot be parsed.
func (a *sqliteArg) value() (any, error) {
	text := string(a.Text)
	switch a.Kind {
	case "text":
		return text, nil
	case "decimal":
		return Decimal(text), nil
	case "bool":
		return text == "true", nil
	case "int":
		return strconv.ParseInt(text, 10, 64)
	case "float":
		return strconv.ParseFloat(text, 64)
	}
	return nil, nil
}
