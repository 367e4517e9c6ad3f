package valid

import (
	"encoding/json"
	"fmt"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/kept"
)

// Cache caches compiled schemas by their content, keeping those that were used most recently. The
// zero value is ready to use. It is safe for concurrent use and must not be copied. Clients send
// the same tools with every turn of a conversation, and compiling a schema takes far longer than
// checking a call.
type Cache struct{ kept.Cache[outcome] }

// outcome is the result of compiling one schema. Failures are kept as well, so that a tool with a
// broken schema does not cost a compilation in every turn.
type outcome struct {
	v   *Validator
	err error
}

// Get returns the validator of a tool's schema, compiled at the first use. A schema that is empty
// or null accepts any object. If the schema cannot be compiled, the error is a *SchemaError. The
// caller decides what such a schema means. For example, the engine then lets the tool accept any
// object and says so once.
func (c *Cache) Get(schema json.RawMessage) (*Validator, error) {
	one := c.Cache.Get(schema, func(text string) outcome {
		v, err := compile([]byte(text))
		return outcome{v, err}
	})
	return one.v, one.err
}

// Tool returns the validator of a tool's schema, compiled at the first use. If the schema cannot be
// compiled, the error is a fault.Invalid that names the tool, because the mistake is that of the
// client, who wrote the schema, and not that of a model.
func (c *Cache) Tool(t chat.Tool) (*Validator, error) {
	v, err := c.Get(t.Schema)
	if err != nil {
		return nil, fault.New(fault.Invalid,
			"the parameters of tool %q are no valid JSON Schema: %w", t.Name, err)
	}
	return v, nil
}

// SchemaError says what makes a schema unusable.
type SchemaError struct {
	Place string // a JSON pointer into the schema; empty: the schema itself, or not known
	Text  string // what is wrong there
}

// Error implements error. It returns the error in one line.
func (e *SchemaError) Error() string {
	if e.Place == "" {
		return e.Text
	}
	return fmt.Sprintf("at %s: %s", e.Place, e.Text)
}
