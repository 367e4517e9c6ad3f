package golden

import (
	_ "embed" // for tools.json
	"fmt"

	"toolnorm/chat"
)

//go:embed tools.json
var tools []byte

// Tools returns the tools that every case is offered, unless its reader brings others. They differ
// in what families stumble over: nothing required, numbers, lists, nested objects. The cases of all
// families share them. An error is a broken file of the repository, never a user's doing.
func Tools() ([]chat.Tool, error) {
	list, err := chat.ParseTools(tools)
	if err != nil {
		return nil, fmt.Errorf("tools.json: %w", err)
	}
	return list, nil
}
