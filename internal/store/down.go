package store

import (
	"database/sql/driver"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Down reports whether err means that the database cannot be reached, rather than that a statement
// is wrong. A server that stops or starts reports the SQLSTATEs 57P01 to 57P03.
func Down(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	var said *pgconn.PgError
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, driver.ErrBadConn) ||
		errors.As(err, &said) && strings.HasPrefix(said.Code, "57P")
}
