package main

import (
	"strings"
	"time"

	"toolnorm/agent"
	"toolnorm/engine"
	"toolnorm/internal/pattern"
	"toolnorm/tools/find"
)

// agents are the settings of the agent. Its limits stop a run that repeats itself, which costs time
// on a local server and money on a remote one.
type agents struct {
	AgentTime       time.Duration `name:"agent-time" default:"10m" help:"How long one run of the agent may take, with all its steps."`
	AgentTokens     int           `name:"agent-tokens" default:"200000" help:"How many tokens one run of the agent may read and write in all."`
	AgentToolTokens int           `name:"agent-tool-tokens" default:"4000" help:"How many tokens the descriptions of tools may take in the agent's prompt. What does not fit is described in few words, and if that does not fit either, the model searches for tools."`
	AgentConsent    string        `name:"agent-consent" default:"never" enum:"never,results,always" help:"When the agent asks the user before it calls a tool that does not say that it only reads: never; results, if a value of the call stands in a tool's result or an earlier answer and not in what the user said; or always."`
	AgentSampling   string        `name:"agent-sampling" default:"never" enum:"never,always" help:"Whether other MCP servers may ask the model of an agent's run while it calls their tools (sampling): never, or always, which also gives each of these servers a connection of its own for each run."`
	AgentRPM        int           `name:"agent-rpm" placeholder:"N" help:"How many requests of the agent to one model server may begin in any 60 seconds. Default: any number."`
	AgentAtOnce     int           `name:"agent-at-once" default:"4" help:"How many of them may run at the same time; further ones wait in a queue. 0: any number."`
	ListSuffixes    []string      `name:"list-suffixes" placeholder:"agent,shell" help:"List every model under these suffixes as well, for clients that offer only listed models: NAME@agent, NAME@shell."`
	KBModel         string        `name:"kb-model" placeholder:"NAME" help:"The model that answers for kb/NAME, which every knowledge base NAME is listed as. Default: the setting model, else the first model that is listed."`
	AgentQueue      int           `name:"agent-queue" default:"64" help:"How many of them may wait; further ones are told so at once."`
}

// newAgent returns the agent, which wraps the engine. It passes a request that is not for the agent
// on to the model.
func (m *Main) newAgent(c *Config, model *engine.Engine, by *find.Meanings) *agent.Loop {
	cfg := agent.Config{
		Model: model, Tools: m.toolbox.Registry, Log: m.log, DefaultModel: c.Model,
		May: mayAsk(c, model), Bases: newBases(m.toolbox.KB), BaseModel: c.KBModel, Catalog: model,
		Consent: c.AgentConsent, Sample: c.AgentSampling == "always",
		Time: c.AgentTime, Tokens: c.AgentTokens, ToolTokens: c.AgentToolTokens,
		Beat: c.Heartbeat, Meanings: by,
		Queue: agent.NewQueue(agent.QueueConfig{PerMinute: c.AgentRPM, AtOnce: c.AgentAtOnce,
			Waiting: c.AgentQueue, Lane: c.server}),
	}
	if m.remote != nil {
		cfg.Servers = m.remote
	}
	return agent.New(cfg)
}

// server returns the name that the settings give to a model's server, or "" for the server of the
// setting ollama. The queue of the agent counts requests by server. The name before a slash may
// also be part of the model's own name, so it is only used if a server has this name.
func (c *Config) server(model string) string {
	if real, ok := c.Alias[model]; ok {
		model = real
	} else if real, ok := pattern.Find(c.Alias, model); ok {
		model = real
	}
	name, _, found := strings.Cut(model, "/")
	if !found {
		return ""
	}
	if _, known := c.Upstream[name]; known {
		return name
	}
	for _, l := range c.Upstreams {
		if l.Name == name {
			return name
		}
	}
	return ""
}
