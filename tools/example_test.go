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
		Call:        tools.Typed(func(_ context.Context, in struct{ N int }) (int, error) { return 2 * in.N, nil }),
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
