package golden

import (
	_ "embed" // for tools.json
	"fmt"

	"toolnorm/chat"
)

//go:embed tools.json
var tools []byte

// Tools returns the default tools of the cases. They cover what families have trouble with: no
// required parameters, numbers, lists, nested objects. An error means that the embedded file of
// this repository is broken.
func Tools() ([]chat.Tool, error) {
	list, err := chat.ParseTools(tools)
	if err != nil {
		return nil, fmt.Errorf("tools.json: %w", err)
	}
	return list, nil
}
