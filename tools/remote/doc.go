// Package remote makes the tools of other MCP servers part of a registry, each as server.tool.
//
// The servers are listed in mcp.json, which people edit and [Set.Add] and [Set.Remove] change.
// Every server is kept connected by a link of its own, so that a dead server does not affect the
// others. mcp-go implements the protocol; this package does what mcp-go leaves to its user: finding
// the transport, reconnecting, bounds, and where a connection may go.
//
// Clients of MCP reach a server as they would directly (gateway.go): requests that have state, or
// need answers of the client, use a connection of the client's own; all others share one.
//
// A file, an entry, a server, a tool or a part of a result that cannot be used is left out,
// reported in the log and by [Set.List], and tried again when it changes; everything else works.
//
//	set.go      Set: the servers, the registry; watch.go: the file's changes
//	link.go     one server: connecting, listing, its state; keep.go keeps it connected
//	state.go    switching servers off and on; reports on servers and tools, and the check of a file
//	conn.go     one connection, over HTTP, the older SSE, or with a command
//	raw.go      the text of results, which mcp-go does not keep
//	read.go     reading a server's messages, member by member
//	plain.go    messages that mcp-go cannot read
//	retry.go    which errors are the connection's, and after which a call may be made again
//	why.go      errors as sentences; the last words of a command
//	ask.go      requests that pass through as they are; timer.go ends those that take too long
//	relay.go    connections for one client, over which a server can ask it questions
//	gateway.go  what servers offer besides tools; directory.go remembers which server named what
//	item.go     resources, templates and prompts in the lists of servers; given.go what they give for one
//	level.go    the level of what servers log
//	account.go  what the user has signed in to; signin.go signs in, visit.go from a page, revoke.go out
//	tool.go     a server's tool as the registry's; result.go reads what a call returns
//	entry.go    one server in mcp.json; member.go reads the spellings of its members,
//	            envfile.go its file of variables
//	file.go     mcp.json as a whole; text.go reads its encodings and comments, object.go keeps unknown members
//	policy.go   where a connection may go; bounded.go how much may come back
//	process.go  servers that are commands; process_unix.go, process_other.go
//	http.go     the addresses that list, add and remove
package remote
