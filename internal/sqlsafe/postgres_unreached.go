package sqlsafe

import (
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// connecting returns an error of the connection pool as one sentence, without host, user and
// database. The errors of pgx contain them, but the sentence is sent to a model. Other errors are
// returned unchanged.
func connecting(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return unreached{connect, reason(connect.Unwrap())}
	}
	return err
}

// unreached is a connection error in one sentence.
type unreached struct {
	error
	why string
}

// Error implements error. It returns a sentence that says why the database cannot be reached.
func (u unreached) Error() string { return "the database cannot be reached: " + u.why }

// Unwrap returns the original error of pgx.
func (u unreached) Unwrap() error { return u.error }

// reason returns why the first attempt to connect failed. pgx tries each server with and without
// TLS, and its message has a line for each attempt.
func reason(err error) string {
	var name *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &name):
		return name.Err
	case errors.As(err, &dial):
		return dial.Err.Error()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}
