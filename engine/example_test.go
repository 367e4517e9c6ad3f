package engine_test

import (
	"context"
	"encoding/json"
	"fmt"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/engine/demo"
)

// A demo model writes a call in the dialect that its name says; the events are the same for every
// dialect.
func Example() {
	e := engine.New(engine.Config{Demo: demo.Server{Delay: -1}})
	request := &chat.Request{
		Model:    "demo/qwen3-coder",
		Messages: []chat.Message{{Role: chat.User, Content: "What is the weather in Paris?"}},
		Tools:    []chat.Tool{{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}},
	}
	for ev, err := range e.Stream(context.Background(), request) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if ev.Kind == chat.CallStart || ev.Kind == chat.CallArgs || ev.Kind == chat.Finish {
			fmt.Println(ev.Kind, ev.Text)
		}
	}
	// Output:
	// call get_weather
	// args {"city":"Paris"}
	// finish stop
}
