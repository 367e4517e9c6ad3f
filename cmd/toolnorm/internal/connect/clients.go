package connect

import "runtime"

// Client is an editor or agent.
type Client struct {
	Name   string
	folder string // below the home folder: the client is installed if this folder exists
	files  []file
	hand   string // the steps for the user, with the address and the model of the examples
	try    *trial // nil: it cannot be asked without a terminal
}

// file is a file of a client: its path below the home folder, and what is merged into it.
type file struct {
	path    string
	example string // in examples/editors; empty: text is merged
	text    string
	merge   func(old, add []byte) ([]byte, error)
}

// Clients lists the known clients.
func Clients() []Client {
	return []Client{
		{
			Name: "claude-code", folder: ".claude",
			files: []file{{path: ".claude/settings.json", example: "claude-code/settings.json",
				merge: mergeJSON}},
			hand: "for the tools of toolnorm: claude mcp add --scope user --transport http toolnorm http://127.0.0.1:11435/mcp",
			try:  &trial{args: []string{"claude", "-p", "{prompt}", "--allowedTools", "Read"}},
		},
		{Name: "cline", folder: ".cline", files: []file{
			{path: ".cline/data/settings/providers.json", example: "cline/providers.json",
				merge: mergeJSON},
			{path: ".cline/data/settings/cline_mcp_settings.json",
				example: "cline/cline_mcp_settings.json", merge: mergeJSON},
		}},
		{
			Name: "codex", folder: ".codex",
			files: []file{{path: ".codex/config.toml", example: "codex/config.toml",
				merge: mergeTOML}},
			try: &trial{args: []string{"codex", "exec", "--skip-git-repo-check", "--sandbox",
				"read-only", "{prompt}"}},
		},
		{
			Name: "continue", folder: ".continue",
			files: []file{{path: ".continue/config.yaml", example: "continue/config.yaml",
				merge: mergeYAML}},
			try: &trial{args: []string{"cn", "-p", "--readonly", "--config",
				"{home}/.continue/config.yaml", "{prompt}"}},
		},
		{Name: "open-webui", hand: openWebUI},
		{
			Name: "opencode", folder: ".config/opencode",
			files: []file{{path: ".config/opencode/opencode.json",
				example: "opencode/opencode.json", merge: mergeJSON}},
			try: &trial{args: []string{"opencode", "run", "-m", "toolnorm/{model}", "{prompt}"}},
		},
		{
			Name: "pi", folder: ".pi",
			files: []file{{path: ".pi/agent/models.json", example: "pi/models.json",
				merge: mergeJSON}},
			try: &trial{args: []string{"pi", "--provider", "toolnorm", "--model", "{model}",
				"--tools", "read", "-p", "{prompt}"}},
		},
		{
			Name: "qwen-code", folder: ".qwen",
			files: []file{{path: ".qwen/settings.json", example: "qwen-code/settings.json",
				merge: mergeJSON}},
			try: &trial{args: []string{"qwen", "{prompt}"}},
		},
		{Name: "roo", folder: ".roo", files: []file{
			{path: ".roo/toolnorm.json", example: "roo/roo-code-settings.json", merge: mergeJSON},
			{path: codeSettings(),
				text:  `{"roo-cline.autoImportSettingsPath": "~/.roo/toolnorm.json"}` + "\n",
				merge: mergeJSON},
		}, hand: roo},
		{Name: "void", folder: ".void-editor",
			files: []file{{path: ".void-editor/mcp.json", example: "void/mcp.json",
				merge: mergeJSON}}, hand: void},
		{
			Name: "zed", folder: ".config/zed",
			files: []file{{path: ".config/zed/settings.json", example: "zed/settings.json",
				merge: mergeJSON}},
			hand: `in Zed, open the agent panel's settings, toolnorm: API key "any"`,
		},
	}
}

// Steps for the users of clients that keep their settings in a database or a store for secrets.
const (
	openWebUI = `open Admin Panel, Settings, Connections
OpenAI API: + Add connection, URL http://127.0.0.1:11435/v1, key "any", Save
Ollama API: switch it off, or every model is listed twice
for the tools of toolnorm: Admin Panel, Settings, External Tools, +, type MCP, URL http://127.0.0.1:11435/mcp
where Open WebUI runs in a container, write host.docker.internal instead of 127.0.0.1 (docs/editors.md)`
	roo = `restart VS Code: Roo Code then imports the profile "toolnorm"
for the tools of toolnorm: MCP Servers, Edit Global MCP, {"mcpServers": {"toolnorm": {"type": "streamable-http", "url": "http://127.0.0.1:11435/mcp"}}}`
	void = `open Settings, Local Providers, Ollama: endpoint http://127.0.0.1:11435
then choose the model qwen3-coder:30b and the mode Agent`
)

// codeSettings returns the path of the user settings of VS Code below the home folder.
func codeSettings() string {
	switch runtime.GOOS {
	case "darwin":
		return "Library/Application Support/Code/User/settings.json"
	case "windows":
		return "AppData/Roaming/Code/User/settings.json"
	}
	return ".config/Code/User/settings.json"
}
