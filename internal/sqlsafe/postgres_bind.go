package sqlsafe

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// values are the values of a statement's parameters in the form in which they are sent: as texts,
// with their types.
type values struct {
	texts [][]byte // nil: NULL
	types []uint32 // 0: the server infers it from the context
	loose []bool   // the type may be omitted, because another one may have been meant
	lists []bool   // the value is an array
}

// Typed is a value of one of PostgreSQL's own types, such as date, uuid or int8[], in PostgreSQL's
// text form. If the statement needs another type, the value counts as a text. A nil Text is NULL.
type Typed struct {
	Type string
	Text []byte
}

// postgresValues returns the values of a statement's parameters in the form in which they are sent.
// The error is a *Refusal if a value is missing or cannot be sent. A whole number gets the smallest
// type that can hold it, since a function with an integer parameter does not accept a larger type,
// as in substr(name, 1, :n). NULL has the type text, unless it is Typed.
func (s *Statement) postgresValues(b *bound) (*values, error) {
	all := &values{}
	for i, name := range b.names {
		v, ok := s.value(name)
		if !ok {
			return nil, refuse(s.SQL, -1, "the parameter :%s has no value", name)
		}
		var text []byte
		oid, loose, list := uint32(pgtype.TextOID), false, false
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
		case Typed:
			known, ok := postgresTypes().TypeForName(arrayName(v.Type))
			if !ok {
				return nil, refuse(s.SQL, -1, "the value of :%s cannot be sent", name)
			}
			text, oid = v.Text, known.OID
			loose, list = true, strings.HasSuffix(v.Type, "[]")
		default:
			return nil, refuse(s.SQL, -1, "the value of :%s cannot be sent", name)
		}
		if text != nil && slices.Contains(text, 0) {
			return nil, refuse(s.SQL, -1,
				"the value of :%s holds a NUL character, which PostgreSQL cannot take", name)
		}
		if _, typed := v.(Typed); len(text) == 0 && v != nil && !typed {
			text = []byte{} // an empty text is not NULL
		}
		all.texts, all.types = append(all.texts, text), append(all.types, oid)
		all.loose, all.lists = append(all.loose, !b.tests[i] && (loose || oid == pgtype.TextOID)),
			append(all.lists, list)
	}
	return all, nil
}

// arrayName returns PostgreSQL's internal name of a type, for example _int8 for int8[]. Only the
// names of arrays differ.
func arrayName(name string) string {
	if element, ok := strings.CutSuffix(name, "[]"); ok {
		return "_" + element
	}
	return name
}

// untyped removes the types of values that are texts and, if typed is true, of Typed values, so
// that the server infers the types. It returns false if it removed none, because sending the
// statement again would then fail in the same way.
func (v *values) untyped(typed bool) bool {
	found := false
	for i, loose := range v.loose {
		if loose && v.types[i] != 0 && (typed || v.types[i] == pgtype.TextOID) {
			v.types[i], found = 0, true
		}
	}
	return found
}

// single returns a *Refusal if a list without a type is used where the statement needs a single
// value. If the list were sent as the text {a,b}, it would silently equal nothing. single asks the
// server for the types of the parameters, and returns the server's error if that fails.
func (v *values) single(ctx context.Context, c *pgconn.PgConn, sent *bound) error {
	first := -1
	for i, list := range v.lists {
		if list && v.types[i] == 0 && first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	what, err := c.Prepare(ctx, "", sent.text, v.types)
	if err != nil {
		return err
	}
	for i, oid := range what.ParamOIDs {
		if _, array := elementOf(oid); !v.lists[i] || array || oid >= firstOwnOID ||
			oid == pgtype.JSONBOID {
			continue
		}
		place := "$" + strconv.Itoa(i+1)
		return refuse(sent.text, strings.Index(sent.text, place),
			"%s is a list and stands where one value does; write = ANY (%[1]s)", place)
	}
	return nil
}

// firstOwnOID is the OID of the first type that is not built in.
const firstOwnOID = 16384

// isTypeError reports whether err says that there is no operator or function for the given types.
// SQLSTATE 42883 is "operator does not exist: date > text", and 42804 a mismatch in CASE or UNION.
func isTypeError(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && (said.Code == "42883" || said.Code == "42804")
}
