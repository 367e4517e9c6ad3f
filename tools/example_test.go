package tools_test

import (
	"context"
	"encoding/json"
	"fmt"

	"toolnorm/tools"
)

func Example() {
	double := tools.Tool{
		Name:        "double",
		Description: "Doubles a number.",
		Schema:      json.RawMessage(`{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`),
		Call: func(_ context.Context, args json.RawMessage) (tools.Result, error) {
			var in struct{ N int }
			if err := json.Unmarshal(args, &in); err != nil {
				return tools.Result{}, err
			}
			return tools.JSONOf(2 * in.N)
		},
	}
	registry := tools.New(tools.Options{})
	if err := registry.Set("arithmetic", double); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"double", "dubble"} {
		result := registry.Call(context.Background(), name, json.RawMessage(`{"n": 21}`))
		fmt.Println(string(tools.OutcomeOf(result).JSON()))
	}
	// Output:
	// {"success":true,"result":42}
	// {"success":false,"error":"there is no tool \"dubble\"; did you mean double?"}
}
