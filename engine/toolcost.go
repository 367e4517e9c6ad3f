package engine

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/window"
)

// maxListed is how many tools a warning lists, the dearest first: it goes into a header.
const maxListed = 20

// weighTools warns when the offered tools take more tokens than the budget, in the log once for the same tools.
func (t *turn) weighTools() {
	budget := t.engine.cfg.ToolBudget
	if budget == 0 {
		budget = cmp.Or(t.window, t.most()) / 2
	}
	meter, all := t.meter(), 0
	for _, tool := range t.request.Tools {
		all += meter.Estimate(window.ToolBytes(tool))
	}
	if all <= budget {
		return
	}
	text := t.dearest(all, budget)
	t.tell(noteTools, text)
	h := fnv.New64a()
	for _, tool := range t.request.Tools {
		h.Write([]byte(tool.Name + "\x00"))
	}
	first := false
	t.learn(func(l *lessons) { first, l.warned = l.warned != h.Sum64(), h.Sum64() })
	if first {
		t.engine.cfg.Log.Warn().Str("model", t.name).Msg(text)
	}
}

// dearest says what the tools cost, each with its tokens.
func (t *turn) dearest(all, budget int) string {
	tools := slices.Clone(t.request.Tools)
	meter := t.meter()
	slices.SortStableFunc(tools, func(a, b chat.Tool) int { return window.ToolBytes(b) - window.ToolBytes(a) })
	var list []string
	for _, tool := range tools[:min(len(tools), maxListed)] {
		list = append(list, fmt.Sprintf("%.64s %d", t.names.forClient(tool.Name), meter.Estimate(window.ToolBytes(tool))))
	}
	if more := len(tools) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d tools take about %d tokens, more than the budget of %d: %s", len(tools), all, budget, strings.Join(list, ", "))
}
