package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/version"
	"toolnorm/tools/data"
	"toolnorm/tools/kb"
)

// samples has the setting that says when the tools of the sample company are offered.
type samples struct {
	Sample string `default:"auto" enum:"auto,always,never" restart:"yes" help:"When to offer the tools of a sample company, which is made up: auto (while there are no tools, knowledge bases or MCP servers of your own), always, or never."`
}

// Config is the set of all settings. Each has the same name as a flag, in the environment
// (TOOLNORM_ and the name in capitals), and in the YAML file. Flags have precedence over the
// environment, and the environment over the file. The help texts are the documentation of the
// settings, so they name defaults, units and what 0 means. A secret is better in the environment or
// a file, because every program of the machine can read a command line. The settings are grouped as
// in the help, since three hundred lines without headings are hard to read. The tag restart marks
// settings that a running server cannot change (reload.go).
type Config struct {
	serverSettings  `embed:"" group:"Server:"`
	modelSettings   `embed:"" group:"Models:"`
	toolSettings    `embed:"" group:"Tools:"`
	reliability     `embed:"" group:"Reliability:"`
	contextSettings `embed:"" group:"Context:"`
	access          `embed:"" group:"Access:"`
	debugSettings   `embed:"" group:"Debug:"`
}

// serverSettings has the settings that say where the server listens, which model servers it asks,
// and how long its clients may take.
type serverSettings struct {
	Listen          string            `default:"127.0.0.1:11435" restart:"yes" help:"Address to serve on. Port 0 takes a free one."`
	Ollama          string            `default:"127.0.0.1:11434" env:"TOOLNORM_OLLAMA,OLLAMA_HOST" restart:"yes" help:"Address of the Ollama server, in any form that OLLAMA_HOST takes. It need not be running yet. Several, with commas between them, are a pool (docs/scale.md)."`
	Upstream        map[string]string `aliases:"upstreams" placeholder:"NAME=URL" help:"More model servers; their models are called NAME/model. Ollama, or OpenAI-compatible as openai+http://HOST:PORT. Without a prefix the type is detected. Several URLs with commas between them are a pool."`
	KeyEnv          map[string]string `placeholder:"NAME=VARIABLE" help:"Environment variables that hold the API keys of upstreams."`
	Upstreams       []listed          `kong:"-" help:"In the file only: the same as a list, each with name, url, kind (ollama or openai) and key-env."`
	command.Folders `embed:""`
	Demo            string        `default:"auto" enum:"auto,always,never" help:"When to list the demo models (demo/hermes, …): auto (while no model server answers), always, or never. With never they cannot be used; with auto they can be used by name at any time."`
	MaxBody         int64         `default:"20971520" help:"Largest request, in bytes."`
	MaxBodies       int64         `default:"33554432" restart:"yes" help:"Largest sum of the requests that are being answered, in bytes. A request beyond it waits up to 10 s for a place, and is then refused with 503."`
	BodyTimeout     time.Duration `default:"30s" restart:"yes" help:"How long a request may take to arrive."`
	ClientTimeout   time.Duration `default:"60s" help:"How long to wait for a client that does not read its reply."`
	Drain           time.Duration `default:"0s" help:"How long to go on taking requests when the server is stopped and /readyz says no, so that a load balancer notices in time (docs/scale.md)."`
	Grace           time.Duration `default:"10s" help:"How long running replies may continue when the server is stopped."`
}

// modelSettings has the settings that say how the output of models is read, and in which form
// clients get their replies. The form shell, in which calls are command lines, is off by default,
// because it puts tools into every chat.
type modelSettings struct {
	Model               string            `placeholder:"NAME" help:"Model for requests that name none. Default: such requests are an error."`
	Alias               map[string]string `aliases:"aliases" placeholder:"NAME=MODEL" help:"More names for models (* matches any text): claude-*=qwen3-coder has that model answer whatever Claude Code asks for."`
	Format              map[string]string `placeholder:"MODEL=NAME" help:"Models (* matches any text) and the format of their output. Default: by the model's name."`
	Strategy            map[string]string `placeholder:"MODEL=NAME" help:"Models (* matches any text) and how to get their output: raw, tokens, tap, native or prompt. Default: the best that works."`
	Templates           bool              `default:"true" negatable:"" help:"Derive the format from a model's own chat template if no family claims its name, or the wrong one. --format overrides it."`
	Wording             map[string]string `placeholder:"MODEL=NAME" help:"Models (* matches any text) and how strategy prompt describes tools to them: schemas, signatures or example, or several joined by +. Default: the format's own, else found by a probe."`
	Probe               bool              `default:"true" negatable:"" help:"Ask a model without a tool template for a call once, in each wording until one works."`
	Grammar             bool              `default:"true" negatable:"" help:"Constrain calls with a grammar of the offered tools where the server supports it (llama-server)."`
	Calls               string            `default:"normal" enum:"eager,normal,strict" help:"How much evidence a text needs to be read as a call: normal (docs/calls.md), eager (any complete call of an offered tool, even one quoted in prose), or strict (only the family's own marks)."`
	IgnoreThinkingCalls bool              `help:"Ignore tool calls inside the model's reasoning."`
	AskBeforeTools      map[string]string `placeholder:"MODEL=WHEN" help:"Models (* matches any text) and when they are asked whether they need a tool at all, which takes one more short reply: always, before tools are offered to them; auto, behind a call that nothing in the conversation explains, and always once such a call was not needed (Ollama's models, conversations of up to 8 KB); or never. Default: auto."`
	ClientForm          map[string]string `placeholder:"MODEL=NAME" help:"Models (* matches any text) and the form of their replies: openai, shell, void or cline. Default: recognised by the client. A client can choose itself: model NAME@shell, or the header Toolnorm-Client-Form."`
	VoidAliases         string            `default:"auto" enum:"auto,always,never" help:"When to list models under a second name (grok-local-NAME), which makes Void use native tool calls: auto (for clients that look like Void), always or never."`
	ReasoningField      string            `default:"both" enum:"both,reasoning_content,reasoning" help:"Reply field for the model's reasoning: reasoning_content (DeepSeek, vLLM, llama-server), reasoning (Ollama, OpenRouter), or both."`
	ReasoningReplay     string            `default:"all" enum:"none,last,all" help:"Which earlier turns keep the model's reasoning: none, last (those after the last user message), or all (the model's template decides)."`
}

// toolSettings has the settings that say which tools are offered, and which programs run them.
type toolSettings struct {
	Tools            bool `default:"true" negatable:"" restart:"yes" help:"Offer and run the tools that come with the program."`
	samples          `embed:""`
	command.Database `embed:""`
	command.Sources  `embed:""`
	MCP              bool `name:"mcp" default:"true" negatable:"" restart:"yes" help:"Serve the tools to MCP clients, at /mcp (Streamable HTTP) and /sse (the older transport)."`
	remotes          `embed:""`
	PublicURL        string `name:"public-url" placeholder:"URL" restart:"yes" help:"Address under which MCP clients find the server behind a reverse proxy: scheme, host and path in front of /sse. Default: as they ask for it."`
	Runner           string `default:"toolrun" help:"The program that terminals run tools with in form shell, without quotes: for example python runner.py."`
	RunnerBase64     bool   `name:"runner-base64" env:"TOOLNORM_RUNNER_BASE64" help:"Encode the arguments for it in Base64, for PowerShell and cmd. Clients that say they run on Windows get that anyway."`
	ShellFence       string `placeholder:"LANGUAGE" help:"The language behind the fence of a shell block: bash, shell, fish, … Default: bash, or powershell for clients on Windows."`
	agents           `embed:""`
	Databases        data.Config `embed:""`
	Knowledge        kb.Config   `embed:""`
}

// reliability has the settings that say what happens to wrong calls, and to models that repeat
// themselves or do not answer.
type reliability struct {
	Check            bool          `default:"true" negatable:"" help:"Send a call only if it validates against its tool's schema."`
	Rewrite          bool          `default:"true" negatable:"" help:"Have the model rewrite an invalid call, constrained to the schema."`
	Reask            bool          `default:"true" negatable:"" help:"If a call is still invalid, tell the model what is wrong and take its next one."`
	CallBuffer       string        `default:"short" help:"How much of a call to collect before sending it: none, short (calls of up to 512 bytes whole, at slow models what they write in 0.3 s), call (every call whole), or a number of bytes."`
	OutOfBounds      string        `default:"rewrite" enum:"rewrite,clamp,pass" help:"What to do with a call that only violates bounds (numbers, lengths, patterns, formats, counts) even after a rewrite: rewrite (show it as text), clamp (move numbers to the nearest bound), or pass (send it as it is, for agents that learn from a tool's error)."`
	Misfit           string        `default:"repair" enum:"repair,drop,pass" help:"What to do with a call that does not fit its schema: repair (the model writes it again; failing that, optional members that do not fit are left out), drop (leave them out first, which costs no generation), or pass (if writing it again fails, send it as it is, for agents that learn from a tool's error)."`
	MaxSameCalls     int           `default:"3" help:"End a reply in which so many calls in a row were made before (0: never). Equal calls of one reply are one call in any case."`
	LoopGuard        string        `default:"warn" enum:"off,warn,break" help:"When a model makes the same call a third time in a row and gets the same result: off, warn (log and header Toolnorm-Loop), or break (also tell the model, and offer it no tools for that turn)."`
	MaxRepeat        int           `default:"8192" help:"Stop a reply that repeats itself for this many bytes (0: never)."`
	Queue            int           `default:"64" help:"How many requests may wait for a busy model server; more are refused at once (0: all are)."`
	QueueWait        time.Duration `default:"1m" help:"How long a request may wait for a busy server."`
	LoadTimeout      time.Duration `default:"6m" help:"How long Ollama may take to load a model."`
	FirstByteTimeout time.Duration `default:"10m" help:"How long to wait for the first token once the model is loaded."`
	IdleTimeout      time.Duration `default:"2m" help:"How long to wait between two tokens."`
	Heartbeat        time.Duration `default:"8s" help:"Send a keep-alive after this long a silence."`
	UnloadStuck      bool          `help:"Unload an Ollama model that does not start to answer within first-byte-timeout, and retry once. Others who use the model wait while it loads again."`
}

// contextSettings has the settings that say how much of a conversation and its tools a model gets.
type contextSettings struct {
	NumCtx     int    `type:"tokens" placeholder:"TOKENS" help:"Context length to ask Ollama for, in tokens. Default: by the size of each request, growing by powers of two."`
	MaxCtx     int    `type:"tokens" default:"32768" help:"The longest context to ask for automatically, in tokens (65536 or 64k). A model that is loaded with a sufficient context is not reloaded."`
	Overflow   string `default:"trim" enum:"trim,refuse" help:"When a conversation exceeds the context: trim (drop the oldest turns, reported in Toolnorm-Trimmed) or refuse (status 400)."`
	ToolBudget int    `type:"tokens" placeholder:"TOKENS" help:"Most tokens for the tool definitions of a request: longer descriptions are shortened, then those of parameters, and last tools are left out (reported in Toolnorm-Tools). Default: only where a request does not fit the context otherwise, to half of it."`
}

// access has the settings that say who may send requests.
type access struct {
	APIKeys        []string `name:"api-keys" placeholder:"KEY" help:"API keys, one of which each request must carry: at least 16 characters, or sha256: and a key's SHA-256 digest; a label and a space in front name its holder in the log. Safer in the environment or a file, since every program on the machine can read a command line. Default: no key is needed."`
	APIKeysFile    string   `name:"api-keys-file" placeholder:"FILE" help:"File of API keys, one per line; # starts a comment."`
	Published      string   `placeholder:"ADDRESS" restart:"yes" help:"The address of the host at which the port of a container is published, an IP address. With one of loopback, no key is needed though the program listens on all addresses of the container. Publish the port there and nowhere else."`
	InsecureNoKeys bool     `help:"Allow other machines to connect although no API key is set."`
	Hosts          []string `placeholder:"NAME" help:"Host names to accept besides localhost and IP addresses. * allows any."`
	Origins        []string `placeholder:"URL" help:"Web origins to accept besides those on this machine. * allows any."`
	limits         `embed:""`
	admins         `embed:""`
	jwts           `embed:""`
	reaches        `embed:""`
}

// debugSettings has the settings that say what is recorded and logged.
type debugSettings struct {
	Trace       int  `default:"50" restart:"yes" help:"How many of the last requests to keep in memory and show at /debug, on this machine only; 0 to 1000."`
	TraceBodies bool `restart:"yes" help:"Keep the prompts and replies of these requests: up to 256 KiB each."`
	histories   `embed:""`
	usages      `embed:""`
	LogLevel    string `default:"info" enum:"debug,info,warn,error" help:"What to log: debug, info, warn or error. Prompts, replies and keys are never logged."`
	LogFormat   string `default:"auto" enum:"auto,text,json" restart:"yes" help:"Log format: text, json, or auto (text on a terminal, JSON elsewhere)."`
}

// commands are the commands of the program. doctor takes the settings of serve, so that its
// findings are true of the server that these settings start.
type commands struct {
	Serve      Config             `cmd:"" default:"withargs" help:"Serve the OpenAI-compatible endpoint. This is also what happens without a command."`
	Models     listModels         `cmd:"" help:"List available models with their format, strategy, context size and tool support."`
	Doctor     examine            `cmd:"" help:"Examine the model servers, or one model, and report what toolnorm does with them."`
	Bug        bug                `cmd:"" help:"Print what a bug report needs, as Markdown: versions, servers and settings, without keys and prompts."`
	MCP        mcpCommands        `cmd:"" name:"mcp" help:"Serve the tools to the MCP client that started the program, on standard input and output."`
	Decode     command.Decode     `cmd:"" help:"Parse a model's raw output from standard input, and print the resulting events."`
	Repair     command.Repair     `cmd:"" help:"Turn almost-JSON from standard input into strict JSON."`
	Formats    command.Formats    `cmd:"" help:"List, show, test and guess model families."`
	Docs       command.Docs       `cmd:"" help:"Fill the collection that the data tools search."`
	Tools      command.Tools      `cmd:"" name:"tools" help:"List custom tools; write them into files and read them back."`
	KB         command.KB         `cmd:"" name:"kb" help:"Make, fill, list and delete knowledge bases."`
	Connect    command.Connect    `cmd:"" help:"Put this server into the settings of an editor or agent, and take it out again."`
	Completion command.Completion `cmd:"" help:"Print completions for a shell."`
	Help       struct{}           `cmd:"" help:"Explain a command: toolnorm help formats test."`
	Version    struct{}           `cmd:"" help:"Print the version."`

	ShowVersion kong.VersionFlag `name:"version" env:"-" help:"Print the version."`
}

// errDone is returned if the arguments asked for something that has already been done, such as
// printing help.
var errDone = errors.New("done")

// ParseFlags reads the command and the settings from arguments, environment and file. It returns
// errDone if there is nothing left to run, and another error if they cannot be read. The arguments
// are read twice. The first reading finds the name of the file; the second uses the file's values
// where neither flags nor the environment set them.
func (m *Main) ParseFlags(args []string) error {
	m.reload.args = args
	cli, said, err := m.parse(args, nil)
	if err != nil {
		return err
	}
	if path, takesFile := configOf(said); takesFile {
		file, err := readFile(path)
		if err != nil {
			return err
		}
		if file != nil {
			if cli, said, err = m.parse(args, file); err != nil {
				return err
			}
			for _, c := range []*Config{&cli.Serve, &cli.Doctor.Config, &cli.Models.Config,
				&cli.Bug.Config} {
				c.Upstreams = file.upstreams
			}
		}
	}
	m.Config = cli.Serve
	if said.Command() != "serve" {
		m.instead = func() error { return said.Run(m, &m.Console) }
	}
	return nil
}

// configOf returns the settings file that the command line names, "" if it names none. takesFile is
// false for a command without the flag config.
func configOf(said *kong.Context) (path string, takesFile bool) {
	for _, flag := range said.Flags() {
		if flag.Name == "config" {
			path, takesFile = said.FlagValue(flag).(string)
		}
	}
	return path, takesFile
}

// strays returns the environment variables whose names look like settings but are not. They cause
// only a warning and not an error, since a container platform may set such names. For example,
// Kubernetes sets TOOLNORM_PORT and TOOLNORM_SERVICE_HOST for a service named toolnorm.
func strays(app *kong.Application) (names []string) {
	known := map[string]bool{}
	for _, flag := range settingsIn(app) {
		for _, env := range flag.Envs {
			known[env] = true
		}
	}
	for _, env := range os.Environ() {
		if name, _, _ := strings.Cut(env, "="); strings.HasPrefix(name, "TOOLNORM_") &&
			!known[name] {
			names = append(names, name)
		}
	}
	return names
}

// settingsIn returns the flags of all commands that are settings. A flag is a setting if it has an
// environment variable.
func settingsIn(app *kong.Application) (all []*kong.Flag) {
	for _, cmd := range app.Children {
		for _, flag := range cmd.Flags {
			if len(flag.Envs) > 0 {
				all = append(all, flag)
			}
		}
	}
	return all
}

// parse reads the arguments. A setting that neither the arguments nor the environment have gets its
// value from the file. It returns an error if the arguments are wrong. After it has printed help or
// the version, it returns errDone. Package kong would end the process instead, and then no test
// could look at the result.
func (m *Main) parse(args []string, file *file) (*commands, *kong.Context, error) {
	cli, help := new(commands), new(helper)
	done := false
	options := []kong.Option{
		kong.Name("toolnorm"),
		kong.Description(
			"An OpenAI-compatible endpoint in front of local models: tool calls come out strict, while they stream."),
		kong.Writers(m.Out, m.Err), kong.Exit(func(int) { done = true }), kong.DefaultEnvars(
			"TOOLNORM"),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(help.print),
		kong.Vars{"version": "toolnorm " + version.String()}, tokens,
	}
	if file != nil {
		options = append(options, kong.Resolvers(file))
	}
	parser, err := kong.New(cli, options...)
	if err != nil {
		return nil, nil, err
	}
	m.given = given{args, file, settingsOf(parser.Model), &cli.Serve}
	m.strays = strays(parser.Model)
	ctx, err := parser.Parse(help.flag(args))
	switch {
	case done:
		return nil, nil, errDone
	case err != nil:
		return nil, nil, fmt.Errorf("%s%s", m.given.explain(err, parser.Model), whereHelpIs(err))
	case ctx.Command() == "version":
		fmt.Fprintln(m.Out, "toolnorm", version.String())
		return nil, nil, errDone
	}
	return cli, ctx, nil
}
