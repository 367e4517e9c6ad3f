package sqlsafe

import (
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// connecting returns an error of the pool in fewer words, without parts of the configuration.
// pgx puts host, user and database into its error, and the sentence goes to a model.
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

// Error returns the sentence.
func (u unreached) Error() string { return "the database cannot be reached: " + u.why }

// Unwrap returns the error of pgx.
func (u unreached) Unwrap() error { return u.error }

// reason returns why the first attempt to connect failed. pgx tries a server with and without TLS,
// and writes the server's name before each reason, which repeats it.
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
