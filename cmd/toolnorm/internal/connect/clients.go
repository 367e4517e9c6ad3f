package connect

import "runtime"

// Client is an editor or agent.
type Client struct {
	Name   string
	folder string // below the home folder; if it exists, the client is installed
	files  []file
	hand   string // what the user has to do by hand, with the address and the model of the examples
	try    *trial // how the client is run for one call; nil: it cannot be without a terminal
}

// file is one settings file of a client.
type file struct {
	// below the home folder
	path    string
	example string // the file in examples/editors that is merged into it; empty: text is merged
	text    string
	merge   func(old, add []byte) ([]byte, error)
}

// oneFile returns the list of files of a client that has only one.
func oneFile(path, example string, merge func(old, add []byte) ([]byte, error)) []file {
	return []file{{path: path, example: example, merge: merge}}
}

// Clients returns all known clients.
func Clients() []Client {
	return []Client{
		{
			Name: "claude-code", folder: ".claude",
			files: oneFile(".claude/settings.json", "claude-code/settings.json", mergeJSON),
			hand:  "for the tools of toolnorm: claude mcp add --scope user --transport http toolnorm http://127.0.0.1:11435/mcp",
			try:   &trial{args: []string{"claude", "-p", "{prompt}", "--allowedTools", "Read"}},
		},
		{Name: "cline", folder: ".cline", files: []file{
			{path: ".cline/data/settings/providers.json", example: "cline/providers.json",
				merge: mergeJSON},
			{path: ".cline/data/settings/cline_mcp_settings.json",
				example: "cline/cline_mcp_settings.json", merge: mergeJSON},
		}},
		{
			Name: "codex", folder: ".codex",
			files: oneFile(".codex/config.toml", "codex/config.toml", mergeTOML),
			try: &trial{args: []string{"codex", "exec", "--skip-git-repo-check", "--sandbox",
				"read-only", "{prompt}"}},
		},
		{
			Name: "continue", folder: ".continue",
			files: oneFile(".continue/config.yaml", "continue/config.yaml", mergeYAML),
			try: &trial{args: []string{"cn", "-p", "--readonly", "--config",
				"{home}/.continue/config.yaml", "{prompt}"}},
		},
		{Name: "open-webui", hand: openWebUI},
		{
			Name: "opencode", folder: ".config/opencode",
			files: oneFile(".config/opencode/opencode.json", "opencode/opencode.json", mergeJSON),
			try:   &trial{args: []string{"opencode", "run", "-m", "toolnorm/{model}", "{prompt}"}},
		},
		{
			Name: "pi", folder: ".pi",
			files: oneFile(".pi/agent/models.json", "pi/models.json", mergeJSON),
			try: &trial{args: []string{"pi", "--provider", "toolnorm", "--model", "{model}",
				"--tools", "read", "-p", "{prompt}"}},
		},
		{
			Name: "qwen-code", folder: ".qwen",
			files: oneFile(".qwen/settings.json", "qwen-code/settings.json", mergeJSON),
			try:   &trial{args: []string{"qwen", "{prompt}"}},
		},
		{Name: "roo", folder: ".roo", files: []file{
			{path: ".roo/toolnorm.json", example: "roo/roo-code-settings.json", merge: mergeJSON},
			{path: codeSettings(),
				text:  `{"roo-cline.autoImportSettingsPath": "~/.roo/toolnorm.json"}` + "\n",
				merge: mergeJSON},
		}, hand: roo},
		{Name: "void", folder: ".void-editor",
			files: oneFile(".void-editor/mcp.json", "void/mcp.json", mergeJSON), hand: void},
		{
			Name: "zed", folder: ".config/zed",
			files: oneFile(".config/zed/settings.json", "zed/settings.json", mergeJSON),
			hand:  `in Zed, open the agent panel's settings, toolnorm: API key "any"`,
		},
	}
}

// Instructions for the users of clients that keep their settings in a database or a store for
// secrets.
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
