// Package remote makes the tools of other MCP servers part of a registry, each as server.tool.
//
// Which servers there are is said in mcp.json, which people edit and [Set.Add] and [Set.Remove] change. Every server is
// kept connected by a link of its own, so that a dead one is nobody else's matter. The protocol is mcp-go's; ours is
// what it leaves to its user: finding the transport, coming back, bounds, and where a connection may go.
//
//	set.go      Set: the servers, the file's changes, the registry
//	link.go     one server: connecting, listing, waiting, its state
//	conn.go     one connection, over HTTP, the older SSE, or with a command
//	raw.go      the text of results, which mcp-go does not keep
//	retry.go    which errors are the connection's, and after which a call may be made again
//	tool.go     a server's tool as the registry's; its results
//	entry.go    one server in mcp.json
//	file.go     mcp.json as a whole; object.go keeps what it does not know
//	policy.go   where a connection may go, and how much may come back
//	process.go  servers that are commands; process_unix.go, process_other.go
//	http.go     the addresses that list, add and remove
package remote
