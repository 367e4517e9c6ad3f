// Package editors holds the settings files of editors and coding agents. Its tests compare them
// with their formats, with each other, and with docs/editors.md; the end-to-end lane reads them
// with the clients' own schemas.
package editors

import "embed"

// Files are the settings of the clients that toolnorm connect writes.
//
//go:embed claude-code cline codex continue opencode pi qwen-code roo void zed
var Files embed.FS
