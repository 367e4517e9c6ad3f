package store

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestADatabaseThatCannotBeReachedIsToldFromAWrongQuestion(t *testing.T) {
	_, refused := Open(t.Context(), "postgres://nobody@127.0.0.1:1/none?sslmode=disable&connect_timeout=2")
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{refused, true},
		{fmt.Errorf("list: %w", &pgconn.PgError{Code: "57P01"}), true},
		{&pgconn.PgError{Code: "42P01"}, false},
		{nil, false},
	} {
		if got := Down(tt.err); got != tt.want {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
}
