// Package schema compiles a tool's JSON Schema into what reading its arguments needs: the types a place allows, its
// members, and how a value of the wrong type becomes one of the right type. It also writes schemas in the words of model
// servers that hold a model to them.
//
// It does not validate: a schema it cannot read simply allows everything.
package schema
