package sqlsafe

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PostgresConfig names the database and sets limits. Limits that are zero get defaults. Host,
// database and user have no defaults.
type PostgresConfig struct {
	URL string // postgres://…, used instead of the next five fields; empty: those are used

	Host, Database, User, Password string
	Port                           int
	Limits                         Limits
	// further functions that statements may call, as name or schema.name
	Functions []string

	// AnyRole accepts a role that may do more than read, even a superuser, and calls Warn for one.
	// The only protection is then the check of the statements and the transaction that is never
	// committed.
	AnyRole bool
	Warn    func(text string) // nil: warnings are discarded
}

// PostgresDB is a database that is only read. It may be used by several goroutines at once.
type PostgresDB struct {
	check  Postgres
	config PostgresConfig
	pool   *pgxpool.Pool
	warned sync.Once

	together atomic.Int64 // bytes of the server's memory that all running statements use
	// has a value while a statement runs alone, because its memory cannot be measured
	alone chan struct{}
}

// connections is the largest number of open connections of a program. A model runs one statement at
// a time, and other users of the database need its connections more.
const connections = 4

// idleWait is how long this program may be idle within a transaction, in addition to the time limit
// of the statement.
const idleWait = 10 * time.Second

// largestMessage bounds one message of the server, which contains a row. The protocol allows 1 GiB,
// and a message is read as a whole.
const largestMessage = 4 << 20

// OpenPostgres returns a database with a pool of connections. It does not connect yet, so the
// server need not be running. It fails if the settings cannot be parsed. The start-up message of
// each connection fixes how the server reads statements.
func OpenPostgres(c PostgresConfig) (*PostgresDB, error) {
	c.Limits = c.Limits.filled()
	db := &PostgresDB{config: c, alone: make(chan struct{}, 1),
		check: Postgres{Functions: map[string]bool{}}}
	for _, name := range c.Functions {
		name = strings.TrimSpace(name)
		// "Margin" must keep its case
		db.check.Functions[name], db.check.Functions[strings.ToLower(name)] = true, true
	}
	// The data tools' settings use the fields, since passwords contain @, / and %. PGSSLMODE and
	// similar variables of the environment apply.
	where := c.URL
	if where == "" {
		where = fmt.Sprintf("host=%s port=%d dbname=%s user=%s", quoteField(c.Host), c.Port,
			quoteField(c.Database), quoteField(c.User))
	}
	config, err := pgxpool.ParseConfig(where)
	if err != nil {
		return nil, errors.New(
			"the settings of the database, or the PG… variables of the environment, cannot be read")
	}
	conn := config.ConnConfig
	if c.Password != "" {
		conn.Password = c.Password
	}
	db.config.User = conn.User
	conn.ConnectTimeout = 5 * time.Second
	conn.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(largestMessage)
		return f
	}
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	// the only parameter that a URL may set: it decides which tables are meant
	path := conn.RuntimeParams["search_path"]
	conn.RuntimeParams = map[string]string{
		"application_name": "toolnorm", "default_transaction_read_only": "on",
		"statement_timeout": milliseconds(c.Limits.Time),
		"lock_timeout":      milliseconds(c.Limits.Time),
		// for this program, which may be slow
		"idle_in_transaction_session_timeout": milliseconds(c.Limits.Time + idleWait),
		// The check assumes these settings; a server with others would read another statement.
		"standard_conforming_strings": "on", "client_encoding": "UTF8",
		"DateStyle": "ISO, YMD", "IntervalStyle": "postgres", "bytea_output": "hex",
	}
	if path != "" {
		conn.RuntimeParams["search_path"] = path
	}
	config.MaxConns = connections
	config.AfterConnect = db.admit
	// does not connect
	if db.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, err
	}
	return db, nil
}

// quoteField returns a value quoted for a connection string. Otherwise a backslash or a quotation
// mark in a setting could begin another field.
func quoteField(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// Close closes the pool.
func (db *PostgresDB) Close() { db.pool.Close() }

// serverBounds are settings that only some servers know, or only some roles may change. For
// example, after GRANT SET ON PARAMETER temp_file_limit TO the role, the server ends a statement
// whose temporary files are too large.
var serverBounds = []string{"SET hash_mem_multiplier = 1", fmt.Sprintf(
	"SET temp_file_limit = '%dMB'", mostServerFiles>>20)}

// admit prepares a new connection and returns an error if its role is not accepted. The pool calls
// it for every new connection.
func (db *PostgresDB) admit(ctx context.Context, conn *pgx.Conn) error {
	for _, set := range serverBounds {
		var said *pgconn.PgError
		if _, err := conn.Exec(ctx, set); err != nil && !errors.As(err, &said) {
			return err
		}
	}
	if err := db.admitRole(ctx, conn); err != nil {
		return err
	}
	begins(conn.PgConn())
	return nil
}

// declaration precedes a statement, so that the server's own grammar accepts nothing but a query.
// In a read-only transaction a superuser can still run a program with COPY … TO PROGRAM, and can
// use DO and SET ROLE. As the query of a cursor these are syntax errors, and so are INSERT, SHOW,
// EXPLAIN and SELECT INTO. Nothing may be added after the user's text; a semicolon or a comment at
// its end does no harm. It costs .06 ms.
const declaration = "DECLARE toolnorm_query NO SCROLL CURSOR FOR "

// Query runs one SELECT with the values of its parameters, within the limits of the connection. If
// the statement may not be run, the error is a *Refusal, as for Ask.
func (db *PostgresDB) Query(ctx context.Context, query string, values ...sql.NamedArg) (
	*Table, error) {
	return db.Ask(ctx, Statement{SQL: query, Values: values})
}

// Ask runs one SELECT and returns its rows. If the statement may not be run, the error is a
// *Refusal. An error of the server is a *pgconn.PgError, whose Position is a position in q.SQL.
func (db *PostgresDB) Ask(ctx context.Context, q Statement) (*Table, error) {
	return db.ask(ctx, q, fetch)
}

// Describe returns the columns of a statement without running it. It fails if Ask would refuse the
// statement or the server cannot plan it.
func (db *PostgresDB) Describe(ctx context.Context, q Statement) (*Table, error) {
	return db.ask(ctx, q, describe)
}

// reader is a function that reads the result of a statement from the cursor that was declared for
// it.
type reader func(ctx context.Context, c *pgconn.PgConn, sent *bound, limits Limits) (*Table, error)

// ask checks a statement, declares a cursor for it, and returns what the function read makes of the
// cursor. The check comes before a connection is taken, so a refusal needs no server.
//
// Values are first sent with types, because :day IS NULL determines no type and would fail without
// one. If the server does not accept a value as a text, the statement is sent again without the
// type. For example, date > :day needs a date, and PostgreSQL infers the type of an untyped value.
func (db *PostgresDB) ask(ctx context.Context, q Statement, read reader) (*Table, error) {
	q.SQL = PostgreSQL.plain(q.SQL)
	b, err := bind(q.SQL)
	if err != nil {
		return nil, err
	}
	q.Limits = q.Limits.or(db.config.Limits)
	what, err := db.check.check(ctx, b.text, len(b.names))
	if err != nil {
		return nil, b.told(err)
	}
	send, err := q.postgresValues(b)
	if err != nil {
		return nil, err
	}
	// A little more than the server's own timeout, so that the server reports it first.
	ctx, cancel := context.WithTimeoutCause(ctx, q.Limits.Time+2*time.Second, late(q.Limits.Time))
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, connecting(err)
	}
	defer conn.Release() // discards a connection that is closed, or still in a transaction
	defer relieve(ctx, conn.Conn().PgConn())
	t, err := db.within(ctx, conn.Conn().PgConn(), b, what, send, q.Limits, read)
	last := err
	// Typed values lose their types last, because a date + a number of days needs the type of the
	// date
	for _, typed := range []bool{false, true} {
		if !isTypeError(last) || !send.untyped(typed) {
			continue
		}
		again, wrong := db.within(ctx, conn.Conn().PgConn(), b, what, send, q.Limits, read)
		if wrong == nil {
			return again, nil
		}
		var said *pgconn.PgError
		// the statement is right, but the value is not
		if last = wrong; errors.As(wrong, new(*Refusal)) ||
			errors.As(wrong, &said) && strings.HasPrefix(said.Code, "22") {
			err = wrong
		}
	}
	err = b.told(err)
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case Late(err):
		err = slow{late(q.Limits.Time), err}
	}
	return t, err
}

// within runs a statement in a read-only transaction, calls the function read to read its rows, and
// returns the result of read or the first error. The transaction is always rolled back, because
// COMMIT would preserve large objects and settings. For example, lo_create(0) succeeds in a
// read-only transaction for a role without any right, and so does set_config(…, false). Advisory
// locks outlive even a rollback, so they are released separately. Closing the connection ends its
// transaction, too.
func (db *PostgresDB) within(ctx context.Context, c *pgconn.PgConn, b *bound, what *checked,
	send *values, limits Limits, read reader) (*Table, error) {
	path, err := begin(ctx, c, fmt.Sprintf(
		"SET LOCAL statement_timeout = %d; SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL work_mem = '4MB'", max(1, limits.Time.Milliseconds())))
	if err != nil {
		return nil, err
	}
	var t *Table
	sent, err := resolve(ctx, c, b, what, db.check.Functions, path)
	if err == nil {
		err = sent.told(send.single(ctx, c, sent))
	}
	if err == nil {
		// watched from here on, since planning already computes constant expressions
		over, stop := watch(ctx, c, &db.together)
		var unknown bool
		unknown, err = affordable(ctx, c, sent, send, b.text)
		if err == nil && unknown && over == nil {
			select {
			case db.alone <- struct{}{}:
				defer func() { <-db.alone }()
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		if err == nil {
			_, err = sendPrefixed(ctx, c, declaration, sent, send)
		}
		err = sent.told(err)
		if err == nil {
			t, err = read(ctx, c, sent, limits)
		}
		stop()
		if over != nil && over.Load() {
			// The cancellation may still be on its way, and would end the next statement.
			_ = c.Close(ctx)
			t, err = nil, tooMuch{}
		}
	}
	if c.IsClosed() {
		return t, err
	}
	if _, wrong := c.Exec(ctx,
		"ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()").ReadAll(); wrong != nil &&
		err == nil {
		err = wrong
	}
	return t, err
}

// begin begins a transaction in which only built-in names are found, and returns the search path
// before it, as an array of names. With the role's own path, the queries about a statement could
// call the owner's functions: a user-defined = for an oid and a number would match better than the
// built-in one. It fails if the server does.
func begin(ctx context.Context, c *pgconn.PgConn, settings string) (path []byte, err error) {
	all, err := c.Exec(ctx, "BEGIN TRANSACTION READ ONLY; "+settings+
		"; SELECT pg_catalog.current_schemas(false); SET LOCAL search_path = pg_catalog").ReadAll()
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if len(one.Rows) == 1 {
			path = one.Rows[0][0]
		}
	}
	return path, nil
}

// sendPrefixed sends a statement after a prefix such as DECLARE, and returns the rows of the
// answer. It uses the extended protocol, which accepts only one statement. With the simple
// protocol, "select 1; commit; drop table …" leaves the transaction, and did drop a table in a
// test. Positions in errors are corrected by the length of the prefix.
func sendPrefixed(ctx context.Context, c *pgconn.PgConn, front string, b *bound, send *values) (
	[][][]byte, error) {
	result := c.ExecParams(ctx, front+b.text, send.texts, send.types, nil, nil).Read()
	var wrong *pgconn.PgError
	if errors.As(result.Err, &wrong) {
		if wrong.Position > 0 {
			wrong.Position = max(1, wrong.Position-int32(len(front)))
		}
		if strings.Contains(wrong.Message, "pg_catalog.int8smaller(") {
			wrong.Message = "the length of repeat, lpad or rpad has to be an integer"
		}
	}
	return result.Rows, result.Err
}

// fetch reads as many rows from the cursor as the limits allow. It asks for one row more, to know
// whether there are more. It fails if the statement does. For example, the server refuses a table
// that the role may not read only here, and not when the cursor is declared.
func fetch(ctx context.Context, c *pgconn.PgConn, sent *bound, limits Limits) (*Table, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows := c.ExecParams(ctx, fmt.Sprintf("FETCH FORWARD %d FROM toolnorm_query", limits.Rows+1),
		nil, nil, nil, nil)
	fields := rows.FieldDescriptions()
	columns, types := make([]string, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		columns[i], types[i] = f.Name, sent.column(f.DataTypeOID)
	}
	t, err := newTable(columns, limits)
	if err != nil {
		return nil, err
	}
	t.Types = types
	for rows.NextRow() {
		values := rows.Values()
		row := make([]json.RawMessage, len(values))
		for i, text := range values {
			row[i] = sent.value(fields[i].DataTypeOID, text)
		}
		if !t.add(row) && len(t.Records) < limits.Rows {
			// the limit of bytes was reached: the rest may be gigabytes, too many to read only to
			// keep the connection
			cancel()
			_, _ = rows.Close()
			return &t.Table, nil
		}
	}
	if _, err := rows.Close(); err != nil {
		var large *pgproto3.ExceededMaxBodyLenErr
		if errors.As(err, &large) {
			err = fmt.Errorf("a row has %d bytes, more than %d; select less of it",
				large.ActualBodyLen, large.MaxExpectedBodyLen)
		}
		return nil, err
	}
	return &t.Table, nil
}
