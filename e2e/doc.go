// Package e2e is the end-to-end lane: the real Ollama with a real llama-server, and the last one
// with an engine of its own, a model that says exactly what a script says, toolnorm in front, and
// the stock clients.
//
// Everything is in its tests. They need what install.sh puts into the cache and skip without it;
// with TOOLNORM_E2E=required a missing part is a failure. run.sh installs, builds, and runs them.
//
// What speaks MCP has a lane of its own in here (mcp*_test.go): it needs Node and its packages, and
// no model server.
//
// Real models are measured apart from all that, by models/run.sh: see package models.
package e2e
