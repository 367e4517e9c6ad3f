// Package command has the commands of toolnorm that need no server: they read a text, or work on
// the data of a server. Each is a struct whose tags are its arguments and flags for the parser, and
// whose Run does the work with a [Console].
//
//	console.go     the streams of commands, their progress, and their exit status
//	folders.go     settings that they share with serve: folders, stores, connections; families and tools in files
//	lines.go       standard input, whole or answered line by line; table.go: tables that fit the terminal, whose width width_unix.go and width_other.go know
//	decode.go      a model's raw output, once or by lines
//	repair.go      almost-JSON
//	formats.go     families: list, show, test, and write their table; proposals.go begins the file of a new one
//	embedder.go    a hint when Ollama has an embedding model and none is set
//	kb.go          makes, fills and lists knowledge bases, and fills the collection of the data tools
//	tools.go       custom tools as files
//	connect.go     this server in the settings of an editor or agent; diff.go shows the change
//	completion.go  what shells complete
package command
