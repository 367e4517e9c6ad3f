// Command toolnorm serves an OpenAI-compatible endpoint in front of local models, whose tool calls it turns into strict
// ones while they stream. "toolnorm serve -h" lists its settings. "toolnorm mcp" serves its tools on standard input and
// output. "toolnorm decode", "repair" and "formats" let one look at what a model wrote without any server.
//
// Starting, and the settings:
//
//	main.go       the process: signals, exit statuses
//	program.go    every part of the server, wired by name; the watch on model servers is in watch.go
//	face.go       what answers by one set of settings; reload.go makes another one when they have changed
//	start.go      what a start says, and what keeps it from starting
//	remote.go     other MCP servers: settings, their file, who manages them; agent.go: the agent in front of the models
//	config.go     the settings of serve; forms.go has those of the forms that clients get replies in
//	file.go       the YAML file; wrong.go says where a wrong setting stands
//	upstreams.go  further model servers among the settings; jwt.go has those of JWTs
//
// Parts of serve:
//
//	tools.go      the tools that come with the program
//	runner.go     what toolrun asks for
//	mcp.go        MCP clients over HTTP
//	admin.go      what administrators ask, and who they are
//	log.go        the log
//
// The other commands:
//
//	commands.go   what they share: families, formats, tools; lines.go reads standard input
//	decode.go     a model's raw output, once or by lines (decode_lines.go)
//	repair.go     almost-JSON
//	formats.go    families: list, show and test; formats_guess.go, formats_learn.go and formats_doc.go do the rest
//	doctor.go     examinations of servers and models; models.go lists the models, bug.go begins a report
//	help.go       help, with the settings under headings; completion.go: the same for shells
//	mcp_stdio.go  the MCP client that started the program
//	tools_files.go  custom tools as files
//	docs.go       fills the collection of the data tools; kb.go makes and fills knowledge bases
package main
