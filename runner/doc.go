// Package runner writes a call of a tool as a shell command that every shell reads alike, and runs
// such commands.
//
// It is for clients that have a terminal and no tools. What a model writes becomes part of a
// command line, so no shell may interpret any of it: with plain quotes, one of 300 random arguments
// ran $(id). There are no rules for each shell; the JSON itself is written so that no shell finds
// anything to interpret.
//
//	command.go   a call as a command line, and the call in a line that was written here
//	portable.go  JSON that every shell leaves alone between single quotes
//	pending.go   calls that are too long for a command line
//	serve.go     the running toolnorm: tools and calls for runners
//	client.go    the runner: asks the running toolnorm
//	address.go   the file by which they find each other; own_unix.go and own_other.go say who may have written it
//
// Terms: a call is the name of a tool and its arguments, a JSON object. The runner is the program
// that a command starts, toolrun. A pending call is one that the proxy keeps until a runner fetches
// it by its id.
package runner
