// Package toolargs reads the arguments of a tool's call. It repairs them, coerces values to the
// types in the tool's schema, and checks the result against the whole schema.
package toolargs

import (
	"encoding/json"
	"fmt"
	"slices"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/valid"
	"toolnorm/tools"
)

// Reader reads the arguments of calls. The zero value is ready for use. It may be used by several
// goroutines at once and must not be copied.
type Reader struct {
	schemas valid.Cache
}

// mostValues bounds the number of values in one call's arguments, since reading and checking one
// value takes some 15 microseconds if none of them fits. A text of one megabyte may contain half a
// million values.
const mostValues = 50_000

// Fit returns the arguments of a call of t as one JSON object that fits the tool's schema; it is
// for tools.Options.Fit. Arguments that already fit are returned byte for byte, because leniency
// must not change them. Other arguments are parsed as models write them, and their values are
// coerced, for example "5" to a number. If they do not fit after that, the error has a sentence for
// each place. Arguments that break off are always an error, because half a call must not run. If
// the schema itself is invalid, any object fits.
func (r *Reader) Fit(t tools.Tool, args json.RawMessage) (json.RawMessage, error) {
	if chat.Values(args) > mostValues {
		return nil, fmt.Errorf("the arguments of %s hold more than %d values", t.Name, mostValues)
	}
	v, err := r.schemas.Get(t.Schema)
	if err != nil {
		v, err = r.schemas.Get(nil)
	}
	if err != nil {
		return nil, err
	}
	if v.Check(args) == nil {
		return args, nil
	}
	text, repairs, ok := adapters.Arguments(chat.Tool{Name: t.Name, Schema: t.Schema}, string(args))
	switch {
	case !ok:
		return nil, fmt.Errorf("the arguments of %s must be one JSON object", t.Name)
	case slices.Contains(repairs, "truncated"), slices.Contains(repairs, "closers"):
		return nil, fmt.Errorf("the arguments of %s break off before their end", t.Name)
	}
	if wrong := v.Check([]byte(text)); wrong != nil {
		return nil, fmt.Errorf("the arguments of %s do not fit: %s", t.Name, valid.Sentences(wrong))
	}
	return json.RawMessage(text), nil
}
