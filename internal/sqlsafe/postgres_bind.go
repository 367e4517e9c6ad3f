package sqlsafe

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// values are those of a statement's parameters as they are sent: as texts, with their
// types.
type values struct {
	texts [][]byte // nil: NULL
	types []uint32 // 0: what stands beside it says
}

// postgresValues returns the values of names; one that is missing is an error. A whole
// number has the smallest type that holds it, since a function that takes an integer
// takes no larger one: substr(name, 1, :n). NULL is a text.
func (s *Statement) postgresValues(names []string) (*values, error) {
	all := &values{}
	for _, name := range names {
		v, ok := s.value(name)
		if !ok {
			return nil, refuse(s.SQL, -1, "the parameter :%s has no value", name)
		}
		var text []byte
		oid := uint32(pgtype.TextOID)
		switch v := v.(type) {
		case nil:
		case string:
			text = []byte(v)
		case bool:
			text, oid = strconv.AppendBool(nil, v), pgtype.BoolOID
		case int64:
			text, oid = strconv.AppendInt(nil, v, 10), pgtype.Int8OID
			if v >= math.MinInt32 && v <= math.MaxInt32 {
				oid = pgtype.Int4OID
			}
		case float64:
			text, oid = strconv.AppendFloat(nil, v, 'g', -1, 64), pgtype.NumericOID
		case Decimal:
			text, oid = []byte(v), pgtype.NumericOID
		default:
			return nil, refuse(s.SQL, -1, "the value of :%s cannot be sent", name)
		}
		if text != nil && slices.Contains(text, 0) {
			return nil, refuse(s.SQL, -1, "the value of :%s holds a NUL character, which PostgreSQL cannot take", name)
		}
		if len(text) == 0 && v != nil {
			text = []byte{} // an empty text is not NULL
		}
		all.texts, all.types = append(all.texts, text), append(all.types, oid)
	}
	return all, nil
}

// untyped takes the type from texts, and says whether there were any.
// It is done once: a second attempt with the same types would fail in the same way.
func (v *values) untyped() bool {
	found := false
	for i, oid := range v.types {
		if oid == pgtype.TextOID {
			v.types[i], found = 0, true
		}
	}
	return found
}

// mistyped reports whether the server found no operator or function for the types that it was
// told. 42883 is "operator does not exist: date > text", 42804 a mismatch in CASE or
// UNION.
func mistyped(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && (said.Code == "42883" || said.Code == "42804")
}
