package sqlsafe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// superuser is the phrase for a role that has all rights.
const superuser = "is a superuser"

// powers is a query for what a role may do besides reading; each row is one right. The server's own
// tables are excluded, since every role has the same rights there. Ownership is included, since an
// owner can grant itself the rest. At most three tables are listed, which is enough to explain what
// is wrong.
const powers = `
SELECT '` + superuser + `' FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper
UNION ALL SELECT 'may make roles' FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolcreaterole
UNION ALL SELECT 'may replicate' FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolreplication
UNION ALL SELECT 'is a member of ' || rolname FROM pg_catalog.pg_roles
	WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_write_all_data', 'pg_signal_backend')
	AND pg_catalog.pg_has_role(current_user, oid, 'MEMBER')
UNION ALL (SELECT 'may change the table ' || pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
	AND (pg_catalog.pg_has_role(current_user, c.relowner, 'USAGE')
		OR pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) LIMIT 3)`

// effects is a query for functions of the database that the role may call and that may do more than
// read: volatile functions, and those that run with the rights of their owner. No statement can
// call these directly, but views and policies may.
const effects = `
SELECT n.nspname || '.' || p.proname || CASE WHEN p.prosecdef THEN ' (SECURITY DEFINER)' ELSE ' (VOLATILE)' END
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND p.prorettype NOT IN (2279, 3838)
AND (p.prosecdef OR p.provolatile = 'v' AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 1255 AND d.objid = p.oid AND d.deptype = 'e'))
AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE') ORDER BY p.prosecdef DESC, 1 LIMIT 5`

// roleCalls runs the query in the constant effects, which finds functions that may do more than
// read. It returns a warning about these functions, or "" if there are none or the query fails.
func roleCalls(ctx context.Context, conn *pgx.Conn, role string) string {
	rows, err := conn.Query(ctx, effects)
	if err != nil {
		return ""
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(all) == 0 {
		return ""
	}
	return fmt.Sprintf(
		"the role '%s' may call functions that may do more than read: %s; REVOKE EXECUTE on them FROM PUBLIC", role, strings.Join(all, ", "))
}

// roleCan returns what the role of a connection may do besides reading. Every new connection is
// asked, since rights may be granted while the pool is open. It fails if the query does.
func roleCan(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, powers)
	if err != nil {
		return nil, fmt.Errorf("ask what the role may do: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// tooPowerful returns an error that says why a role is not accepted, or nil if the role has no
// rights besides reading. The check of statements would restrain a more powerful role as well, but
// one mistake in the check would endanger the data.
func tooPowerful(role string, can []string) error {
	if len(can) == 0 {
		return nil
	}
	said := can
	switch {
	case can[0] == superuser: // which implies all other rights
		said = can[:1]
	case len(can) > 3:
		said = append(slices.Clone(can[:2]), fmt.Sprintf("may do %d things more than read",
			len(can)-2))
	}
	return fmt.Errorf(
		"the role '%s' %s; give toolnorm one that may SELECT and nothing else, or set sql-role to warn", role, strings.Join(said, ", and "))
}

// admitRole checks what the role may do. It fails if the role has additional rights, unless the
// settings only ask for a warning.
func (db *PostgresDB) admitRole(ctx context.Context, conn *pgx.Conn) error {
	if _, err := begin(ctx, conn.PgConn(), "SET LOCAL jit = off"); err != nil {
		return err
	}
	can, err := roleCan(ctx, conn)
	if err != nil {
		return err
	}
	err = tooPowerful(db.config.User, can)
	if err != nil && !db.config.AnyRole {
		return err
	}
	db.warned.Do(func() {
		if db.config.Warn == nil {
			return
		}
		if err != nil {
			db.config.Warn(err.Error())
		}
		if calls := roleCalls(ctx, conn, db.config.User); calls != "" {
			db.config.Warn(calls)
		}
	})
	_, err = conn.Exec(ctx, "ROLLBACK")
	return err
}
