// Package dynamic holds the tools that administrators make while the program runs: a SELECT, or an
// expression, with parameters. What is saved is offered at once on every face, and gone at once
// when it is switched off.
//
// What a tool is:
//
//	definition.go  what an administrator writes, and how the column of the table holds it
//	schema.go      the same as models see it
//	check.go       what a name, a description, a parameter and an option may be
//	kind.go        the types of parameters
//	details.go     what a type leaves open: defaults, bounds, choices
//	value.go       JSON values in drafts, also in files
//	problem.go     what is wrong, and where
//
// How it runs:
//
//	compile.go     a draft that can be called; expressions
//	fit.go         arguments held to their types, in sentences
//	bind.go        values as databases take them
//	caller.go      parameters that are filled from who calls
//	choices.go     the choices of an ENUM that a SELECT gives
//	promise.go     what results will be, for clients
//	sql.go         SELECTs; their walls are internal/sqlsafe's
//	result.go      rows as the tool promises them
//	connection.go  the databases that may be asked; sample.go makes the one that is always there
//	trial.go       checks and test runs of drafts that are not saved
//
// What it promises:
//
//	example.go        calls with what has to come of them, in JSON and in files
//	contract.go       running them, and what differs
//	drift.go          tables that are not what they were; the check of all that is kept
//	contracttable.go  the tables of both, and of sets
//
// Tools in groups:
//
//	group.go       sets of tools, as administrators make them
//	groupfiles.go  sets as files
//
// How it is kept:
//
//	tables.go      the tables, two of which are the specification's
//	moretypes.go   the change for more than three types
//	store.go       their rows
//	change.go      what an administrator does: create, update, toggle, delete, restore
//	files.go       tools as files, for version control
//	yamlerror.go   what is wrong with a file, in the words of its author
//	set.go         the set, and how it follows the store when another program changes it
//	offer.go       the registry has what the store has
//
// Values are only ever bound, in a SELECT as in an expression; there are no templates, so there is
// nothing to escape from.
package dynamic
