package runner_test

import (
	"encoding/json"
	"fmt"

	"toolnorm/runner"
)

func ExampleProgram_Command() {
	line, err := runner.Toolrun.Command("search_docs", json.RawMessage(`{"query": "it's $(id) \"연차\""}`))
	fmt.Println(line, err)
	_, err = runner.Toolrun.Command("search; id", nil)
	fmt.Println(err)
	// Output:
	// toolrun search_docs '{"query":"it\u0027s \u0024(id) \u0022연차\u0022"}' <nil>
	// "search; id" cannot be written in a command: a name is 1 to 128 of A-Z a-z 0-9 . _ -
}
