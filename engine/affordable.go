package engine

import (
	"encoding/json"
	"errors"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/fault"
)

// affordable refuses a request whose schemas are larger than what is read, before anything is made of them. To leave such a
// schema unread instead would send its megabytes to a model that has no room for them, and check nothing.
func affordable(r *chat.Request) error {
	var form json.RawMessage
	if r.Format != nil && r.Format[0] == '{' {
		form = r.Format
	}
	err := schema.Affordable(r.Tools, form)
	if excess, ok := errors.AsType[*schema.Excess](err); ok {
		return &fault.Error{Kind: fault.Invalid, Param: excess.Param, Code: schema.ExcessCode, Message: excess.Param + ": " + excess.Error(), Cause: err}
	}
	return err
}
