// Package runner writes a call of a tool as a shell command that every shell reads alike, and runs such commands.
//
// Terms: a call is the name of a tool and its arguments, a JSON object. The runner is the program that a command starts,
// toolrun. A pending call is one that the proxy keeps until a runner fetches it by its id.
package runner
