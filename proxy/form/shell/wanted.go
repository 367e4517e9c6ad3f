package shell

import (
	"context"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/tools"
	"toolnorm/tools/find"
)

// bytesPerToken is roughly the number of bytes of a description per token.
const bytesPerToken = 4

// pickTools returns the tools whose descriptions fit the budget of tokens, in the order of all. If
// not all fit, it prefers tools whose names are in the conversation, and then those that the user's
// messages ask for. The last message counts more than the others, which are compared only by words.
// A tool that was called stays, since its name is in the conversation.
func (c *Config) pickTools(ctx context.Context, all []tools.Tool,
	messages []chat.Message,
) []tools.Tool {
	size, budget := 0, c.Budget
	for _, t := range all {
		size += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	if budget <= 0 || size <= budget*bytesPerToken {
		return all
	}
	var said, asked strings.Builder
	var last string
	named := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.Calls {
			named[c.Name] = true
		}
		said.WriteString(m.Content + "\n")
		if m.Role == chat.User {
			last = m.Content
			asked.WriteString(m.Content + "\n")
		}
	}
	finder := find.New(all)
	ranked := slices.Concat(finder.Find(ctx, c.Meanings, last), finder.Rank(asked.String()), all)
	text := said.String()
	slices.SortStableFunc(ranked, func(a, b tools.Tool) int {
		return mentionRank(text, named, b.Name) - mentionRank(text, named, a.Name)
	})
	room, taken := budget*bytesPerToken, map[string]bool{}
	for _, t := range ranked {
		if n := len(t.Name) + len(t.Description) + len(t.Schema); !taken[t.Name] && n <= room {
			taken[t.Name] = true
			room -= n
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(t tools.Tool) bool { return !taken[t.Name] })
}

// mentionRank returns 2 for a tool that was called, 1 for a tool whose name is in the text, and 0
// for all others. A name without _ and dot may be an ordinary word, so it does not count as being
// in the text.
func mentionRank(text string, called map[string]bool, name string) int {
	switch {
	case called[name]:
		return 2
	case strings.ContainsAny(name, "_.") && strings.Contains(text, name):
		return 1
	}
	return 0
}
