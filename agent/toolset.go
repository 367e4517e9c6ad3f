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

// local is the prefix of the names of the program's own tools, as in local.search_docs. No MCP
// server may have this name.
const local = "local"

// toolset is the tools of one run. Each tool has one name, server.tool, which the model, the caller
// and the log use. A toolset does not change when servers come and go, because a model must find
// the tools that its prompt describes. If one of its servers offers another tool during the run,
// that tool can be called (see later), but only the next run describes it to the model.
type toolset struct {
	list      []tools.Tool // in the order in which they are offered
	byName    map[string]tools.Tool
	safe      map[string]string   // names that model servers accept, by the tools' own names
	also      map[string]string   // own names of tools, by further names for them
	ambiguous map[string][]string // tools that share a name without a server, by that name
	// there are too many tools to describe, so the model searches for them
	searched bool
	found    []string       // names of the tools that were found
	finder   *find.Finder   // finds them; nil before the first search
	meanings *find.Meanings // nil: tools are found only by words
	question string         // the user's last question, which a search looks at as well
}

// newToolset returns a toolset of the tools in list. The names in taken are those of the client's
// tools in the same request. The client keeps these names, and ours get a hash at the end. A bare
// name, such as "generate_speech", means the only tool that has it, because models often leave out
// the server.
func newToolset(list []tools.Tool, taken []string) *toolset {
	list = slices.Clone(list)
	ts := &toolset{list: list, byName: map[string]tools.Tool{}, safe: map[string]string{},
		also: map[string]string{}, ambiguous: map[string][]string{}}
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
		// The name is cut at the first dot: names of servers contain none, names of tools may.
		_, name, _ := strings.Cut(t.Name, ".")
		bare[name] = append(bare[name], t.Name)
	}
	for name, all := range bare {
		switch {
		// If a bare name is another tool's whole or safe name, it means that other tool.
		case ts.also[name] != "" || ts.byName[name].Name != "":
		case len(all) == 1:
			ts.also[name] = all[0]
		default:
			ts.ambiguous[name] = all
		}
	}
	return ts
}

// longestSafe is the most characters that the name of a function may have for OpenAI. Such a name
// consists of A-Z a-z 0-9 _ and -. MCP allows 128 characters, and dots, which Goose and others
// refuse as well.
const longestSafe = 64

// safeName returns a tool's name for model servers: server__tool. The name can be mapped back,
// because a name that would be ambiguous gets a hash. For example, a_.b and a._b would both be
// a___b, and a.b.c and a.b_c must not be the same.
func safeName(name string) string {
	server, tool, _ := strings.Cut(name, ".")
	safe := server + "__" + tool
	if len(safe) > longestSafe || strings.Contains(server, "__") || strings.Contains(tool, "__") ||
		strings.Contains(tool, ".") || strings.HasSuffix(server, "_") ||
		strings.HasPrefix(tool, "_") {
		return hashed(name)
	}
	return safe
}

// hashed returns a name with its hash at the end, so that it is unique. At most 55 characters, _
// and eight digits make 64.
func hashed(name string) string {
	clean := strings.Replace(name, ".", "__", 1)
	clean = strings.ReplaceAll(clean, ".", "_")
	return fmt.Sprintf("%.55s_%.4x", clean, sha256.Sum256([]byte(name)))
}

// empty reports whether the run has no tools. Then it needs no prompt, no decoder and no choice,
// and the model just answers.
func (ts *toolset) empty() bool { return len(ts.list) == 0 }

// named returns the name of the tool that a caller means, by its whole name or by a part that only
// one tool has. If there is no such tool, it returns an error that lists all tools, for the person
// who wrote force_tool.
func (ts *toolset) named(name string) (string, error) {
	if _, ok := ts.byName[name]; ok {
		return name, nil
	}
	if whole, ok := ts.also[name]; ok {
		return whole, nil
	}
	return "", fault.New(fault.Invalid, "there is no tool %q; there are %s", name,
		strings.Join(ts.names(), ", "))
}

// names returns the tools' own names, in the order in which they are offered.
func (ts *toolset) names() (all []string) {
	for _, t := range ts.list {
		all = append(all, t.Name)
	}
	return all
}

// reads reports whether the named tool is declared read-only. It returns false for an unknown tool.
func (ts *toolset) reads(name string) bool { return onlyReads(ts.byName[name]) }

// onlyReads reports whether a tool is declared read-only and has calls that need no consent.
func onlyReads(t tools.Tool) bool {
	return !t.Confirm && t.Hints.ReadOnly != nil && *t.Hints.ReadOnly
}

// spokenOf returns the tools whose names a text contains, except names that may be ordinary words.
func (ts *toolset) spokenOf(text string) (names []string) {
	for _, t := range ts.list {
		_, bare, _ := strings.Cut(t.Name, ".")
		if strings.Contains(text, t.Name) || strings.Contains(text, ts.safe[t.Name]) ||
			strings.Contains(bare, "_") && holds(text, bare) {
			names = append(names, t.Name)
		}
	}
	return names
}

// chat returns tools in the form of a chat request. The function name returns the name of each.
func (ts *toolset) chat(list []tools.Tool, name func(string) string) (out []chat.Tool) {
	for _, t := range list {
		out = append(out, chat.Tool{Name: name(t.Name), Description: t.Description,
			Schema: t.Schema})
	}
	return out
}

// call runs a call through the registry, which reads the arguments by the tool's schema and checks
// them, as for every other client. For an unknown or ambiguous name the result is a failure, which
// the model reads; the step is then used up.
func (ts *toolset) call(ctx context.Context, r *tools.Registry, c chat.Call) tools.Result {
	// The search is answered here and not by the registry, since it covers only the tools of this
	// run.
	if ts.searched && c.Name == searchTool {
		return ts.find(ctx, c.Args)
	}
	// Guessing one of two servers could send the mail by the wrong one.
	if all := ts.ambiguous[c.Name]; len(all) > 0 {
		return tools.Failure(fmt.Sprintf("several servers have a tool %q; say which: %s", c.Name,
			strings.Join(all, ", ")))
	}
	t, ok := ts.byName[c.Name]
	if !ok {
		t, ok = ts.later(r.For(ctx), c.Name)
	}
	if !ok {
		return tools.Failure(fmt.Sprintf("there is no tool %q%s", c.Name, ts.near(c.Name)))
	}
	name := t.Name
	// The registry knows the program's own tools without the prefix.
	if bare, ok := strings.CutPrefix(name, local+"."); ok {
		name = bare
	}
	return r.Call(ctx, name, c.Args)
}

// later returns a tool that a server of the run has begun to offer since the start of the run. Some
// servers offer a tool after a call, and name it in the result. It returns false if there is no
// such tool.
func (ts *toolset) later(now *tools.Snapshot, name string) (tools.Tool, bool) {
	server, _, _ := strings.Cut(name, ".")
	if server == local || !slices.ContainsFunc(ts.list, func(t tools.Tool) bool {
		return strings.HasPrefix(t.Name, server+".")
	}) {
		return tools.Tool{}, false
	}
	return now.Find(name)
}

// near returns the end of a sentence that names at most three tools, those whose words fit a wrong
// name best. If none fits, it names the first tools, so that the model sees what names look like.
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

// collect returns the tools for a run, and warnings about servers that do not answer and are left
// out. The name local in servers means the program's own tools; nil means all servers and these
// tools. If servers is nil and no server is registered, there are no tools and the model just
// answers, as the specification says. collect returns an error for a server that is not registered;
// the error lists those that are.
func (l *Loop) collect(ctx context.Context, servers []string) (*toolset, []string, error) {
	var known []string
	if l.cfg.Servers != nil {
		known = l.cfg.Servers.Names()
	}
	wanted, own := servers, false
	if servers == nil {
		// Without registered servers nothing is offered, not even the local tools.
		wanted, own = known, len(known) > 0
	}
	remote := make([]string, 0, len(wanted))
	for _, name := range wanted {
		switch {
		case name == local:
			own = true
		case !slices.Contains(known, name):
			return nil, nil, fault.New(fault.Invalid,
				"mcp_servers: there is no server %q; there are %s", name,
				strings.Join(append(known, local), ", "))
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
				warnings = append(warnings, fmt.Sprintf("the MCP server %s is left out: %s", name,
					why))
			}
		}
	}
	if own {
		all = append(all, l.own(ctx, known)...)
	}
	ts := newToolset(all, nil)
	ts.meanings = l.cfg.Meanings
	return ts, warnings, nil
}

// own returns the registry's tools that belong to no server and that the caller of ctx may see,
// with names of the form local.NAME. The registry also has tools of servers, but these come from
// Collect.
func (l *Loop) own(ctx context.Context, servers []string) (out []tools.Tool) {
	for _, t := range l.cfg.Tools.For(ctx).Tools {
		// A dot alone does not prove that a tool belongs to a server: an administrator's tool may
		// have one in its name.
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
