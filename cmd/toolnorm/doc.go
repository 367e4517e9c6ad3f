// Command toolnorm serves an OpenAI-compatible endpoint for local models, whose tool calls it turns
// into strict ones while they stream. "toolnorm serve -h" lists its settings. "toolnorm mcp" serves
// its tools on standard input and output. "toolnorm decode", "repair" and "formats" read what a
// model wrote, without any server; these and the commands that fill stores are in internal/command.
//
// Starting, and the settings:
//
//	main.go       the process: signals, and the end of its terminal
//	program.go    every part of the server, wired by name
//	server.go     listening, and shutting down
//	face.go       answers by one set of settings; reload.go makes a new face when they change
//	access.go     every route, and who may ask it; rights.go says which models; shared.go: what replicas share
//	start.go      what a start logs, what prevents it, and the watch on model servers
//	remote.go     other MCP servers: settings, their file; agent.go: the agent, which asks models;
//	              meanings.go: the model that finds tools by what they mean;
//	              documents.go: knowledge bases as models, and the list of all that can be asked
//	resolve.go    the settings checked, and what follows from them
//	config.go     the settings of serve, and the commands; tokens.go reads 64k; forms.go has those of the forms that clients get replies in,
//	              leftout.go reads keys and formats one by one and leaves out what cannot be used
//	file.go       the YAML file; wrong.go says where a wrong setting was set
//	help.go       help, with the settings that most people need
//	upstreams.go  settings of more model servers; jwt.go: of JWTs; toolset.go: who may use which tools
//
// Parts of serve:
//
//	tools.go      the tools that come with the program
//	runner.go     what toolrun needs: the address, and calls that are kept for it
//	mcp.go        MCP clients over HTTP, and the one that started the program
//	admin.go      the keys of administrators
//	history.go    requests that are kept over a restart; internal/logs is the log
//	limits.go     how much each caller may ask; spans.go: traces
//
// Commands that take the settings of serve:
//
//	doctor.go     examinations of servers and models, and their list
//	bug.go        the beginning of a report
package main
