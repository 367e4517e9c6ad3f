// Package runner writes a call as a shell command that any shell reads alike, and runs one.
//
// It is empty as yet: it comes with milestone 6, "One registry, the runner, shell mode".
package runner
