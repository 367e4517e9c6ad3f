package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/chat"
)

// mostPointed is how many records of a list are pointed at; more is the list again.
const mostPointed = 3

// pointing is in front of the records that the question names.
const pointing = "the question names "

// pointed returns what a model reads behind a long list: how long it is, and those of its records
// that the question names. Small models miscount, and do not find the one in the list.
func (r *run) pointed(text string) string {
	var v map[string]any
	if json.Unmarshal([]byte(text), &v) != nil {
		return ""
	}
	said := folded(r.saidLast())
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		list, _ := v[name].([]any)
		if len(list) <= mostPointed {
			continue
		}
		notes = append(notes, fmt.Sprintf("%s: %d in all", name, len(list)))
		var meant []string
		for _, item := range list {
			record, _ := item.(map[string]any)
			for _, value := range record {
				if s, ok := value.(string); ok && utf8.RuneCountInString(s) > 1 && holds(said, folded(s)) {
					one, _ := chat.JSON(record) // what was read can be written
					meant = append(meant, string(one))
					break
				}
			}
		}
		if len(meant) > 0 && len(meant) <= mostPointed {
			notes = append(notes, pointing+strings.Join(meant, ", "))
		}
	}
	if len(notes) == 0 {
		return ""
	}
	return "\n(" + strings.Join(notes, "; ") + ")"
}
