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

// mostPointed is how many records of a list a note repeats. More records would repeat the list.
const mostPointed = 3

// pointing is the text before the records that the question names.
const pointing = "the question names "

// pointed returns a note that a model reads after a long list, which says how long the list is and
// which of its records the question names. Small models miscount, and do not find a record in a
// list. It returns "" if the text is not a JSON object with a long list.
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
				if s, ok := value.(string); ok && utf8.RuneCountInString(s) > 1 &&
					holds(said, folded(s)) {
					one, _ := chat.JSON(record) // a value that was parsed can be encoded
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
