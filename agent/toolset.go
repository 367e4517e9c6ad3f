package agent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/tools"
	"toolnorm/tools/find"
)

// local stands in front of the names of the tools that come with the program, as in
// local.search_docs. No server may have it.
const local = "local"

// toolset is the tools of one run. Each has one name, server.tool, by which the model, the caller
// and the log know it. It is made for the run and does not change when servers come and go: a model
// must find the tools that its prompt describes. What one of its servers offers later can be called
// (later), and is described to the next run.
type toolset struct {
	list      []tools.Tool // in the order in which they are offered
	byName    map[string]tools.Tool
	safe      map[string]string   // names that model servers take, by those of tools
	also      map[string]string   // further names by which a model may call tools
	ambiguous map[string][]string // names without a server that several have
	searched  bool                // there are too many to describe: they are searched for
	found     []string            // those that were
	finder    *find.Finder        // by which; nil before the first search
	embed     Embed               // nil: they are found by words alone
	question  string              // the user's last one, which a search looks at as well
}

// newToolset arranges tools. taken are names that somebody else uses in the same request, the
// client's own: those stay theirs, and ours get a sum behind. A bare name, "generate_speech", is
// taken for the one tool that has it; models often leave the server out.
func newToolset(list []tools.Tool, taken []string) *toolset {
	list = slices.Clone(list)
	ts := &toolset{list: list, byName: map[string]tools.Tool{}, safe: map[string]string{}, also: map[string]string{}, ambiguous: map[string][]string{}}
	used := map[string]bool{}
	for _, name := range taken {
		used[name] = true
	}
	for i, t := range list {
		t.Description = harmless(t.Description)
		list[i] = t
		ts.byName[t.Name] = t
		safe := safeName(t.Name)
		// The client may have a tool of that name, from an MCP connection of its own.
		if used[safe] {
			safe = hashed(t.Name)
		}
		used[safe] = true
		ts.safe[t.Name] = safe
		ts.also[safe] = t.Name
	}
	bare := map[string][]string{}
	for _, t := range list {
		// At the first dot: names of servers hold none, those of tools may.
		_, name, _ := strings.Cut(t.Name, ".")
		bare[name] = append(bare[name], t.Name)
	}
	for name, all := range bare {
		switch {
		// A bare name that is another tool's whole or safe name stays that tool's.
		case ts.also[name] != "" || ts.byName[name].Name != "":
		case len(all) == 1:
			ts.also[name] = all[0]
		default:
			ts.ambiguous[name] = all
		}
	}
	return ts
}

// longestSafe is how long a function's name may be for OpenAI, of A-Z a-z 0-9 _ and -. MCP allows
// 128, and dots; Goose and others refuse dots as well.
const longestSafe = 64

// safeName returns a tool's name for model servers: server__tool. It can be read back, since a name
// that would not be clear gets a sum: a_.b and a._b would both be a___b, and a.b.c and a.b_c should
// not be one.
func safeName(name string) string {
	server, tool, _ := strings.Cut(name, ".")
	safe := server + "__" + tool
	if len(safe) > longestSafe || strings.Contains(server, "__") || strings.Contains(tool, "__") || strings.Contains(tool, ".") || strings.HasSuffix(server, "_") || strings.HasPrefix(tool, "_") {
		return hashed(name)
	}
	return safe
}

// hashed returns a name with its sum, so that no other has it. 55 characters, _ and eight digits
// are 64.
func hashed(name string) string {
	clean := strings.Replace(name, ".", "__", 1)
	clean = strings.ReplaceAll(clean, ".", "_")
	return fmt.Sprintf("%.55s_%.4x", clean, sha256.Sum256([]byte(name)))
}

// empty reports whether the run has no tools: then no prompt, no decoder and no choice is needed,
// and the model just answers.
func (ts *toolset) empty() bool { return len(ts.list) == 0 }

// named returns the name of the tool that a caller means, by its whole name or by a part that only
// one has. An error lists all that there are: its reader is the person who wrote force_tool.
func (ts *toolset) named(name string) (string, error) {
	if _, ok := ts.byName[name]; ok {
		return name, nil
	}
	if whole, ok := ts.also[name]; ok {
		return whole, nil
	}
	return "", fault.New(fault.Invalid, "there is no tool %q; there are %s", name, strings.Join(ts.names(), ", "))
}

// names returns the tools' own names, in the order in which they are offered.
func (ts *toolset) names() (all []string) {
	for _, t := range ts.list {
		all = append(all, t.Name)
	}
	return all
}

// reads reports whether a tool says that it only reads.
func (ts *toolset) reads(name string) bool { return onlyReads(ts.byName[name]) }

// onlyReads reports whether a tool says that it only reads, and nobody is asked before a call.
func onlyReads(t tools.Tool) bool { return !t.Confirm && t.Hints.ReadOnly != nil && *t.Hints.ReadOnly }

// spokenOf returns the tools whose names a text has, other than those that may be words.
func (ts *toolset) spokenOf(text string) (names []string) {
	for _, t := range ts.list {
		_, bare, _ := strings.Cut(t.Name, ".")
		if strings.Contains(text, t.Name) || strings.Contains(text, ts.safe[t.Name]) || strings.Contains(bare, "_") && holds(text, bare) {
			names = append(names, t.Name)
		}
	}
	return names
}

// chat returns tools as a request has them, by the name that name gives each.
func (ts *toolset) chat(list []tools.Tool, name func(string) string) (out []chat.Tool) {
	for _, t := range list {
		out = append(out, chat.Tool{Name: name(t.Name), Description: t.Description, Schema: t.Schema})
	}
	return out
}

// call runs a call, through the registry: there the arguments are read by the tool's schema and
// checked, as for every other client. A name that is wrong is a result, which the model reads, and
// counts as a step.
func (ts *toolset) call(ctx context.Context, r *tools.Registry, c chat.Call) tools.Result {
	// Answered here and not by the registry: it searches the tools of this run alone.
	if ts.searched && c.Name == searchTool {
		return ts.find(ctx, c.Args)
	}
	// To guess one of two servers could send the mail by the wrong one.
	if all := ts.ambiguous[c.Name]; len(all) > 0 {
		return tools.Failure(fmt.Sprintf("several servers have a tool %q; say which: %s", c.Name, strings.Join(all, ", ")))
	}
	t, ok := ts.byName[c.Name]
	if !ok {
		t, ok = ts.later(r.For(ctx), c.Name)
	}
	if !ok {
		return tools.Failure(fmt.Sprintf("there is no tool %q%s", c.Name, ts.near(c.Name)))
	}
	name := t.Name
	// The registry knows the program's own tools without the word in front.
	if bare, ok := strings.CutPrefix(name, local+"."); ok {
		name = bare
	}
	return r.Call(ctx, name, c.Args)
}

// later finds a tool that a server of the run has begun to offer meanwhile. Some do so at a call,
// and say the name in its result.
func (ts *toolset) later(now *tools.Snapshot, name string) (tools.Tool, bool) {
	server, _, _ := strings.Cut(name, ".")
	if server == local || !slices.ContainsFunc(ts.list, func(t tools.Tool) bool { return strings.HasPrefix(t.Name, server+".") }) {
		return tools.Tool{}, false
	}
	return now.Find(name)
}

// near names those tools that share most words with a name that is wrong, three at most; without
// any the first ones, so that the model sees what names look like.
func (ts *toolset) near(name string) string {
	ranked := ts.rank(strings.NewReplacer(".", " ", "_", " ", "-", " ").Replace(name))
	if len(ranked) == 0 {
		ranked = ts.list
	}
	var names []string
	for _, t := range ranked[:min(3, len(ranked))] {
		names = append(names, t.Name)
	}
	return "; there is " + strings.Join(names, ", ")
}

// collect returns the tools of a run and its warnings. Servers that do not answer are left out,
// with a warning. Without any server there are no tools, and the model just answers: the
// specification says so, and a caller who wants the program's own names local. It fails for a
// server that is not registered, and names those that are.
func (l *Loop) collect(ctx context.Context, servers []string) (*toolset, []string, error) {
	var known []string
	if l.cfg.Servers != nil {
		known = l.cfg.Servers.Names()
	}
	wanted, own := servers, false
	if servers == nil {
		// With no server registered nothing is offered, not even what is local.
		wanted, own = known, len(known) > 0
	}
	remote := make([]string, 0, len(wanted))
	for _, name := range wanted {
		switch {
		case name == local:
			own = true
		case !slices.Contains(known, name):
			return nil, nil, fault.New(fault.Invalid, "mcp_servers: there is no server %q; there are %s", name, strings.Join(append(known, local), ", "))
		case !slices.Contains(remote, name):
			remote = append(remote, name)
		}
	}
	var all []tools.Tool
	var warnings []string
	if len(remote) > 0 {
		var down map[string]string
		all, down = l.cfg.Servers.Collect(ctx, remote)
		may := l.cfg.Tools.For(ctx)
		all = slices.DeleteFunc(all, func(t tools.Tool) bool { return !may.Admits(t) })
		for _, name := range remote {
			if why, ok := down[name]; ok {
				warnings = append(warnings, fmt.Sprintf("the MCP server %s is left out: %s", name, why))
			}
		}
	}
	if own {
		all = append(all, l.own(ctx, known)...)
	}
	ts := newToolset(all, nil)
	ts.embed = l.cfg.Embed
	return ts, warnings, nil
}

// own returns the registry's tools that belong to no server, as local.NAME, and as the caller of
// ctx may see them. Those of servers are in the registry too, and come by Collect.
func (l *Loop) own(ctx context.Context, servers []string) (out []tools.Tool) {
	for _, t := range l.cfg.Tools.For(ctx).Tools {
		// A dot alone proves nothing: a tool of an administrator's may have one in its name.
		server, _, qualified := strings.Cut(t.Name, ".")
		if qualified && slices.Contains(servers, server) {
			continue
		}
		t = t.For(ctx)
		t.Name = local + "." + t.Name
		out = append(out, t)
	}
	return out
}
