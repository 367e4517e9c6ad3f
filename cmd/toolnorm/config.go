package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"toolnorm/adapters"
	"toolnorm/engine"
	"toolnorm/engine/ollama"
	"toolnorm/internal/auth"
	"toolnorm/internal/home"
)

// Config is every setting. Each has one name as a flag, in the environment (TOOLNORM_ and the name in capitals), and in
// the YAML file; flags win over the environment, and that over the file.
type Config struct {
	Listen string `default:"127.0.0.1:11435" help:"Where to serve. Port 0 takes a free one."`
	Ollama string `default:"127.0.0.1:11434" env:"TOOLNORM_OLLAMA,OLLAMA_HOST" help:"The Ollama server, in any spelling that OLLAMA_HOST takes. It need not be up."`
	Data   string `placeholder:"DIR" help:"Folder of what is the user's own; model families are read from families/*.txt in it. Default: toolnorm in the user's data folder."`
	Store  string `placeholder:"WHERE" help:"Where the data of the tools is kept: the absolute path of a SQLite file, or postgres://… Default: db/mcp_data.db in the data folder."`
	Tools  bool   `default:"true" negatable:"" help:"Offer the tools that come with the program, and run them."`
	Config string `placeholder:"FILE" help:"YAML file with these settings. Default: toolnorm.yaml in the user's configuration folder, if it is there."`
	Demo   string `default:"auto" enum:"auto,always,never" help:"When the demo models (demo/hermes, …) are listed: auto when no model server answers, always, or never, and then they cannot be asked either. With auto they can be asked by name at any time."`
	Model  string `placeholder:"NAME" help:"The model that answers requests which name none. Default: such requests are an error."`

	Upstream  map[string]string `aliases:"upstreams" placeholder:"NAME=URL" help:"Further model servers, whose models are called NAME/model: Ollama, or OpenAI-compatible ones as openai+http://HOST:PORT. Without such a prefix the server is asked what it is."`
	KeyEnv    map[string]string `placeholder:"NAME=VARIABLE" help:"Upstreams and the environment variables that hold their keys."`
	Upstreams []listed          `kong:"-" help:"In the file only: the same as a list, each with name, url, kind (ollama or openai) and key-env."`
	Alias     map[string]string `aliases:"aliases" placeholder:"NAME=MODEL" help:"Names that stand for models."`

	dialects `embed:""`

	Hosts   []string `placeholder:"NAME" help:"Host names, besides localhost and every IP address, under which clients may ask. * allows any."`
	Origins []string `placeholder:"URL" help:"Web origins, besides those on this machine, whose pages may ask. * allows any."`

	APIKeys        []string `name:"api-keys" placeholder:"KEY" help:"Keys of which a request must bear one: 16 characters or more, or sha256: and the sum of one. Better in the environment or a file: every program of the machine can read a command line. Default: none is asked for."`
	APIKeysFile    string   `name:"api-keys-file" placeholder:"FILE" help:"File with such keys, one a line; # begins a remark."`
	InsecureNoKeys bool     `help:"Listen where other machines can reach the server although no key is asked for."`

	Format    map[string]string `placeholder:"MODEL=NAME" help:"Models (* stands for any text) and the format in which they write. Default: by the model's name."`
	Templates bool              `default:"true" negatable:"" help:"Read a model whose name no family claims, or the wrong one, as its own chat template writes calls. Format overrules it."`
	Strategy  map[string]string `placeholder:"MODEL=NAME" help:"Models (* stands for any text) and how their text is had: raw, tokens, tap, native or prompt. Default: by probing."`
	Wording   map[string]string `placeholder:"MODEL=NAME" help:"Models (* stands for any text) and how strategy prompt describes tools to them: schemas, signatures or example, or several with + between. Default: as the format says, else by a probe."`
	Probe     bool              `default:"true" negatable:"" help:"Ask a model without a template for tools once for a call, in each wording until one works."`
	Grammar   bool              `default:"true" negatable:"" help:"Where the server takes a grammar (llama-server), hold the model to calls that fit their schemas while it writes."`
	Hold      string            `default:"short" help:"How much of a call waits before it leaves: none, short (512 bytes), call (all of it), or a number of bytes."`
	Calls     string            `default:"normal" enum:"eager,normal,strict" help:"Which texts that look like calls are calls: normal asks for evidence (docs/calls.md), eager takes every complete call that fits an offered tool, also a fenced one with prose behind it, strict takes the family's own marks alone."`
	Quiet     bool              `help:"Take calls that a model writes while it still thinks for thoughts, even when nothing follows them."`
	Check     bool              `default:"true" negatable:"" help:"Let a call leave only if it fits its tool's schema."`
	Rewrite   bool              `default:"true" negatable:"" help:"Have the model write a call again, held to the schema, when it does not fit."`
	Reask     bool              `default:"true" negatable:"" help:"Tell the model what was wrong with a call that still does not fit, and take its next one."`
	Gate      bool              `help:"Ask the model whether it needs a tool before it is offered any: fewer false calls, for one short reply more a turn."`
	LoopGuard string            `default:"warn" enum:"off,warn,break" help:"A model that makes the same call for the third time in a row, and is told the same: warn tells the log and the header Toolnorm-Loop, break tells the model as well and offers it no tools for that turn."`
	MaxRepeat int               `default:"8192" help:"For how many bytes a model may write the same over and over, text or arguments, until its reply is ended with length. 0: for ever."`

	MaxSameCalls int    `default:"3" help:"How often one reply may make the same call in a row, with the same arguments, or go round in the same two to four calls: behind that the reply is ended, and what has been called stands. 0: as often as the model likes."`
	OutOfBounds  string `default:"rewrite" enum:"rewrite,clamp,pass" help:"A call that fits its tool's schema but for bounds of values (numbers, lengths, patterns, formats, counts), after the model has been asked to write it again: rewrite shows it as text, clamp brings its numbers to the nearest bound, pass lets it leave as it is, for agents that learn from a tool's error."`

	NumCtx int `placeholder:"TOKENS" help:"Context length to ask of Ollama. Default: by the size of each request, growing by powers of two."`
	MaxCtx int `default:"32768" help:"The longest context to ask for by the size of a request, in tokens. What the model is loaded with stays when it is enough."`

	Overflow        string `default:"trim" enum:"trim,refuse" help:"A conversation that is longer than the context: trim leaves out its oldest turns and says so, refuse answers 400."`
	ToolBudget      int    `placeholder:"TOKENS" help:"Warn when the tools of a request take more than this. Default: half of the context."`
	ReasoningReplay string `default:"all" enum:"none,last,all" help:"Which turns of the history keep what the model thought: none, those behind the last user message, or all, of which the model's template takes what it was made for."`

	ReasoningField string `default:"both" enum:"both,reasoning_content,reasoning" help:"The field of a reply at /v1 that holds what the model thought: reasoning_content, as DeepSeek, vLLM and llama-server have it, reasoning, as Ollama and OpenRouter do, or both, for clients that show them once."`

	Trace       int  `default:"50" help:"How many of the last exchanges are kept in memory and shown at /debug, to this machine only; 0 to 1000."`
	TraceBodies bool `help:"Keep what was said in them, too: up to 256 KiB an exchange."`

	MCP     bool `name:"mcp" default:"true" negatable:"" help:"Serve the tools to MCP clients, at /mcp (Streamable HTTP) and /sse (the older way)."`
	remotes `embed:""`
	agents  `embed:""`

	PublicURL string `name:"public-url" placeholder:"URL" help:"Where MCP clients find the server, when that is not as they ask it: scheme, host and path in front of /sse."`

	LogLevel  string `default:"info" enum:"debug,info,warn,error" help:"What to log: debug, info, warn or error. Prompts, replies and keys never are."`
	LogFormat string `default:"text" enum:"text,json" help:"How to log: text or json."`

	MaxBody          int64         `default:"20971520" help:"The largest request taken, in bytes."`
	BodyTimeout      time.Duration `default:"30s" help:"How long a request may take to arrive."`
	ClientTimeout    time.Duration `default:"60s" help:"How long a client may take nothing of its reply."`
	LoadTimeout      time.Duration `default:"6m" help:"How long Ollama may take to load a model."`
	FirstByteTimeout time.Duration `default:"10m" help:"How long Ollama may then take for the first word."`
	IdleTimeout      time.Duration `default:"2m" help:"How long Ollama may be silent between two words."`
	Queue            int           `default:"64" help:"How many requests wait for a model server that says it is busy; further ones are told so at once. 0: all of them are."`
	Unwedge          bool          `help:"Unload an Ollama model that is loaded and does not begin to write in time (first-byte-timeout), and ask it once more. Others who use it wait for it to be loaded again."`
	QueueWait        time.Duration `default:"1m" help:"How long a request waits for a busy server."`
	Heartbeat        time.Duration `default:"8s" help:"After how long a silence a stream shows the client a sign of life."`
	Grace            time.Duration `default:"10s" help:"How long running replies may go on when the server is stopped."`
}

// commands are what the program can be told to do.
type commands struct {
	Serve   Config   `cmd:"" default:"withargs" help:"Serve the OpenAI-compatible endpoint. This is also what happens without a command."`
	Doctor  examine  `cmd:"" help:"Look at the model servers, or examine one model, and say what toolnorm does with it."`
	MCP     mcpStdio `cmd:"" name:"mcp" help:"Serve the tools to the MCP client that started the program, on standard input and output."`
	Decode  decode   `cmd:"" help:"Read what a model wrote from standard input, and print the events that come of it."`
	Repair  repair   `cmd:"" help:"Read what was meant to be JSON from standard input, and print it as strict JSON."`
	Formats formats  `cmd:"" help:"List, show, test and guess model families."`
	Version struct{} `cmd:"" help:"Say which version this is."`
}

// errDone says that the arguments asked for something that is done already, as help.
var errDone = errors.New("done")

// ParseFlags reads the command and the settings from arguments, environment and file. It returns errDone when there is
// nothing to run.
func (m *Main) ParseFlags(args []string) error {
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
				return fmt.Errorf("%w (the settings in %s count as well)", err, file.path)
			}
			cli.Serve.Upstreams, cli.Doctor.Upstreams = file.upstreams, file.upstreams
			m.file = file.path
		}
	}
	m.Config = cli.Serve
	if said.Command() != "serve" {
		m.command = func() error { return said.Run(m) }
	}
	return nil
}

// configOf is the settings file that was named, and whether the command has such a flag at all.
func configOf(said *kong.Context) (path string, takesFile bool) {
	for _, flag := range said.Flags() {
		if flag.Name == "config" {
			path, takesFile = said.FlagValue(flag).(string)
		}
	}
	return path, takesFile
}

// strays are the variables that look like settings and are none. They only deserve a warning: a container platform
// makes such names up for a service of this name.
func strays(app *kong.Application) (names []string) {
	known := map[string]bool{}
	for _, cmd := range app.Children {
		for _, flag := range cmd.Flags {
			for _, env := range flag.Envs {
				known[env] = true
			}
		}
	}
	for _, env := range os.Environ() {
		if name, _, _ := strings.Cut(env, "="); strings.HasPrefix(name, "TOOLNORM_") && !known[name] {
			names = append(names, name)
		}
	}
	return names
}

// parse reads the arguments, with the file's settings below them.
func (m *Main) parse(args []string, file *file) (*commands, *kong.Context, error) {
	cli := new(commands)
	done := false
	options := []kong.Option{
		kong.Name("toolnorm"),
		kong.Description("An OpenAI-compatible endpoint in front of local models: tool calls come out strict, while they stream."),
		kong.Writers(m.stdout, m.stderr), kong.Exit(func(int) { done = true }), kong.DefaultEnvars("TOOLNORM"),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}
	if file != nil {
		options = append(options, kong.Resolvers(file))
	}
	parser, err := kong.New(cli, options...)
	if err != nil {
		return nil, nil, err
	}
	m.strays = strays(parser.Model)
	ctx, err := parser.Parse(args)
	switch {
	case done:
		return nil, nil, errDone
	case err != nil:
		return nil, nil, fmt.Errorf("%w; %s", err, whereHelpIs(err))
	case ctx.Command() == "version":
		fmt.Fprintln(m.stdout, "toolnorm", version())
		return nil, nil, errDone
	}
	return cli, ctx, nil
}

// settings are those that need more than reading.
type settings struct {
	ollama    string
	upstreams []engine.Upstream
	hold      int
	which     adapters.Which
	formats   *adapters.Set
	keys      auth.Keys
}

// maxTrace is how many exchanges may be kept. With what was said in them they take up to 256 MiB.
const maxTrace = 1000

// resolve checks the settings that have rules, fills in the data folder, and says which one is wrong.
func (c *Config) resolve() (s settings, err error) {
	if s.ollama, err = ollama.ParseHost(c.Ollama); err != nil {
		return s, fmt.Errorf("ollama: %w", err)
	}
	if s.hold, err = adapters.ParseHold(c.Hold); err != nil {
		return s, fmt.Errorf("hold: %w", err)
	}
	if s.which, err = adapters.ParseWhich(c.Calls); err != nil {
		return s, fmt.Errorf("calls: %w", err)
	}
	for name, n := range map[string]int64{
		"max-body": c.MaxBody, "body-timeout": int64(c.BodyTimeout), "client-timeout": int64(c.ClientTimeout), "load-timeout": int64(c.LoadTimeout),
		"first-byte-timeout": int64(c.FirstByteTimeout), "idle-timeout": int64(c.IdleTimeout), "heartbeat": int64(c.Heartbeat), "queue": int64(c.Queue) + 1, "max-repeat": int64(c.MaxRepeat) + 1, "max-same-calls": int64(c.MaxSameCalls) + 1, "queue-wait": int64(c.QueueWait), "mcp-timeout": int64(c.MCPTimeout), "agent-time": int64(c.AgentTime), "agent-tokens": int64(c.AgentTokens), "agent-tool-tokens": int64(c.AgentToolTokens), "agent-rpm": int64(c.AgentRPM) + 1, "agent-at-once": int64(c.AgentAtOnce) + 1, "agent-queue": int64(c.AgentQueue), "grace": int64(c.Grace) + 1,
	} {
		if n <= 0 {
			return s, fmt.Errorf("%s: must be more than 0", name)
		}
	}
	if c.Trace < 0 || c.Trace > maxTrace {
		return s, fmt.Errorf("trace: must be 0 to %d", maxTrace)
	}
	if c.Data, err = home.Data(c.Data); err != nil {
		return s, err
	}
	if s.formats, err = userFormats(filepath.Join(c.Data, "families")); err != nil {
		return s, err
	}
	if s.keys, err = c.keys(); err != nil {
		return s, err
	}
	if err := c.dialects.check(); err != nil {
		return s, err
	}
	if s.upstreams, err = c.upstreams(os.LookupEnv); err != nil {
		return s, err
	}
	return s, engine.Config{
		Ollama: s.ollama, Upstreams: s.upstreams, Aliases: c.Alias, Strategy: c.Strategy, Wording: c.Wording, Format: c.Format, Formats: s.formats, NumCtx: c.NumCtx, MaxCtx: c.MaxCtx, ToolBudget: c.ToolBudget,
	}.Validate()
}

// keys are those that clients must bear, of the settings and of the file that they name.
func (c *Config) keys() (auth.Keys, error) {
	all, err := auth.ParseKeys(c.APIKeys)
	if err != nil {
		return nil, fmt.Errorf("api-keys: %w", err)
	}
	if c.APIKeysFile == "" {
		return all, nil
	}
	more, err := auth.ReadKeys(c.APIKeysFile)
	if err != nil {
		return nil, fmt.Errorf("api-keys-file: %w", err)
	}
	return append(all, more...), nil
}

// userFormats are the formats that come with the program, and those that the user has put into dir, if it is there.
func userFormats(dir string) (*adapters.Set, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return adapters.Builtin(), nil
	}
	set, err := adapters.Builtin().Load(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("model families in %s: %w", dir, err)
	}
	return set, nil
}
