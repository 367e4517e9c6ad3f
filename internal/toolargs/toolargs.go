// Package toolargs reads the arguments of a tool's call: repaired and coerced to the tool's schema,
// then checked against the whole of it.
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

// Reader reads arguments. The zero value is ready; it may be used by many at once and must not be
// copied.
type Reader struct {
	schemas valid.Cache
}

// mostValues bounds the values in arguments, since reading and checking one takes some 15
// microseconds when none of them fits. A text of one megabyte may hold half a million of them.
const mostValues = 50_000

// Fit returns the arguments of t as one JSON object that fits its schema; it is tools.Options.Fit.
// Arguments that fit come back byte for byte, others are read as models write them and coerced ("5"
// for a number). An error says what is wrong, a sentence for each place. Arguments that break off
// are an error: half a call is not run. A schema that is not one takes any object. The check comes
// before the reading: most arguments fit, and leniency must not change what fits.
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
		return nil, fmt.Errorf("the arguments of %s must be a JSON object", t.Name)
	case slices.Contains(repairs, "truncated"), slices.Contains(repairs, "closers"):
		return nil, fmt.Errorf("the arguments of %s break off before their end", t.Name)
	}
	if wrong := v.Check([]byte(text)); wrong != nil {
		return nil, fmt.Errorf("the arguments of %s do not fit: %s", t.Name, valid.Sentences(wrong))
	}
	return json.RawMessage(text), nil
}
