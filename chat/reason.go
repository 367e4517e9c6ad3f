package chat

// Reason is a code in Meta.Repairs with its meaning. Codes are stable, because logs, headers,
// comment lines and the trace view show them.
type Reason struct {
	Code  string
	Means string // what was wrong, and how it was repaired
	Wrote string // an example, as a model writes it
	Reads string // how the example is read
}
