// Package mcpserver serves a tools.Registry to MCP clients over legacy SSE and Streamable HTTP, every revision of the
// protocol on the same addresses.
//
// # Terminology
//
// A caller is whoever sent a request, with all that is known of it: revision, client, session. A session is what a
// 2024-11-05 stream or an initialize of 2025 began; revision 2026-07-28 has none. A frame is one JSON-RPC message on its
// way out, an outbox the frames that wait for one stream.
//
// # How the files are arranged
//
// message, era, headers: what came in, and by which revision it counts. engine, dispatch, call, list, bridge: what becomes of
// a message, knowing nothing of HTTP. outbox, hub: what goes out, and to whom. sse, streamable, listen: the HTTP faces.
//
// # Specifications
//
// Model Context Protocol, revisions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28; JSON-RPC 2.0.
package mcpserver
