package engine

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/window"
)

// Agents send 40 to 80 KB of tools with every request: Claude Code 12 tools of 32 KB, with four MCP
// servers 28 of 65 KB. A small model's context has no room for anything else then. So the size of
// tools is limited: always by the setting, and without one only if the request would be refused
// otherwise. Only texts are cut, so the schemas against which calls are checked mean the same.

// fitTools returns the job with tools that fit the setting ToolBudget, if that is set. A token is
// counted as three bytes, although the real ratio of a model is learned from its replies. That
// ratio changes with each of them, and tools that are cut differently in every turn would empty the
// server's cache of the prompt. It never fails.
func (j *job) fitTools(context.Context) (*job, error) {
	if budget := j.engine.cfg.ToolBudget; budget > 0 {
		return j.fitted(budget, window.Meter{}), nil
	}
	return j, nil
}

// fitted returns the job with tools of at most budget tokens, counted by the meter. It returns the
// same job if the tools take no more than that, or cannot be made shorter. It tells the client what
// was cut, and logs that once for the same tools.
func (j *job) fitted(budget int, meter window.Meter) *job {
	called := map[string]bool{}
	for _, m := range j.request.Messages {
		for _, c := range m.Calls {
			called[c.Name] = true
		}
	}
	// Tools that a search has found are not cut, and no other tools are cut because of them.
	// Otherwise the beginning of the prompt would change in the middle of a conversation.
	later := slices.DeleteFunc(slices.Clone(j.request.Tools), func(t chat.Tool) bool {
		return !t.Found
	})
	listed := slices.DeleteFunc(slices.Clone(j.request.Tools), definedIn)
	f := window.FitTools(listed, meter.Text(budget), func(name string) bool {
		return j.request.Required || called[name] || slices.Contains(j.request.Allowed, name)
	})
	// those that must stay are as short as they get
	if len(f.Cut) == 0 || tokensOf(f.Tools, meter) >= tokensOf(listed, meter) {
		return j
	}
	text := fmt.Sprintf("%d tools take about %d tokens, more than the budget of %d: %s",
		len(listed), tokensOf(listed, meter), budget, strings.Join(f.Cut, ", "))
	j.tell(noteTools, text)
	j.warnOnce(listed, text)
	r := *j.request
	r.Tools = append(f.Tools, later...)
	return j.with(&r)
}

// toolRoom returns how many tokens the tools of a request may take if the request is longer than
// its context. This is what the conversation and the reply leave free, but at least a quarter of
// the context and at most half. With less than a quarter an agent would lose tools, while its
// conversation can be trimmed instead. The parameter tokens is the length of the whole request.
func toolRoom(r *chat.Request, tokens, context int, meter window.Meter) int {
	rest := tokens - tokensOf(r.Tools, meter)
	free := context - rest - window.Room(r.MaxTokens, context)
	return min(max(free, context/4), context/2)
}

// tokensOf returns about how many tokens tools take.
func tokensOf(tools []chat.Tool, meter window.Meter) (n int) {
	for _, tool := range tools {
		n += meter.Estimate(window.ToolBytes(tool))
	}
	return n
}

// warnOnce logs a warning about the offered tools. It does so only once as long as the tools stay
// the same.
func (t *target) warnOnce(tools []chat.Tool, text string) {
	h := fnv.New64a()
	for _, tool := range tools {
		h.Write([]byte(tool.Name + "\x00"))
	}
	first := false
	t.learn(func(l *lessons) { first, l.warned = l.warned != h.Sum64(), h.Sum64() })
	if first {
		t.engine.cfg.Log.Warn().Str("model", t.name).Msg(text)
	}
}

// maxListed is how many tools a warning lists, the largest first. It is limited because the warning
// goes into a header.
const maxListed = 20

// weighTools warns if the offered tools take more than half of the context, and no setting limits
// them. It returns the job unchanged, and never fails. Agents collect tools of many servers without
// showing what they cost, and a model with half its context full of schemas forgets the rest.
func (j *job) weighTools(context.Context) (*job, error) {
	budget, meter := cmp.Or(j.context, j.mostContext())/2, j.meter()
	if all := tokensOf(j.request.Tools, meter); all > budget && j.engine.cfg.ToolBudget == 0 {
		text := fmt.Sprintf("%d tools take about %d tokens, more than the budget of %d: %s",
			len(j.request.Tools), all, budget, j.names.dearest(j.request.Tools, meter))
		j.tell(noteTools, text)
		j.warnOnce(j.request.Tools, text)
	}
	return j, nil
}

// dearest returns a list of the tools that take most tokens, each with its count, because readers
// of the warning want to know which server of tools to switch off.
func (n *names) dearest(tools []chat.Tool, meter window.Meter) string {
	tools = slices.Clone(tools)
	slices.SortStableFunc(tools, func(a, b chat.Tool) int {
		return window.ToolBytes(b) - window.ToolBytes(a)
	})
	var list []string
	for _, tool := range tools[:min(len(tools), maxListed)] {
		list = append(list, fmt.Sprintf("%.64s %d", n.forClient(tool.Name),
			meter.Estimate(window.ToolBytes(tool))))
	}
	if more := len(tools) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}
