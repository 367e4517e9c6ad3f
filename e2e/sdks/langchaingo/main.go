// Command langchaingo asks models with the stock package of that name, through OpenAI's API and
// through Ollama's: langchaingo BASE MODEL...
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

// city is a tool with a number, whole and with a fraction, and one inside.
var city = llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: "City",
	Description: "Note a city", Parameters: json.RawMessage(
		`{"type":"object","properties":{"name":{"type":"string"},"population":{"type":"integer","minimum":1},"latitude":{"type":"number"},"mayor":{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}},"required":["name","population","latitude","mayor"]}`)}}

const rome = `Note the City "Rome" with 2873000 people at 41.9 degrees, its mayor is 44`

func main() {
	failed := 0
	for _, model := range os.Args[2:] {
		for name, check := range map[string]func(context.Context, string, string) error{
			"chat": chat, "stream": stream, "loop": loop, "required": required,
			"structured": structured} {
			if err := check(context.Background(), os.Args[1], model); err != nil {
				failed++
				fmt.Printf("--- %s, %s: %v\n", model, name, err)
			}
		}
	}
	fmt.Printf("%d models, %d failed\n", len(os.Args)-2, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// clients returns two clients of the same model: one by OpenAI's API and one by Ollama's. It
// returns an error if one of them cannot be made.
func clients(base, model string, options ...openai.Option) ([]llms.Model, error) {
	a, err := openai.New(append([]openai.Option{openai.WithBaseURL(base + "/v1"), openai.WithToken(
		"any"), openai.WithModel(model)}, options...)...)
	if err != nil {
		return nil, err
	}
	b, err := ollama.New(ollama.WithServerURL(base), ollama.WithModel(model))
	return []llms.Model{a, b}, err
}

// chat asks for a text that is not streamed. It returns an error if the reply is wrong.
func chat(ctx context.Context, base, model string) error {
	return says(ctx, base, model)
}

// stream asks for a streamed text. It returns an error if the text is wrong or comes in too few
// pieces.
func stream(ctx context.Context, base, model string) error {
	pieces := 0
	err := says(ctx, base, model, llms.WithStreamingFunc(func(context.Context, []byte) error {
		pieces++
		return nil
	}))
	if err == nil && pieces < 4 {
		err = fmt.Errorf("%d pieces", pieces)
	}
	return err
}

// says asks the model by both APIs to say "hello". It returns an error if one of the answers does
// not contain that word.
func says(ctx context.Context, base, model string, options ...llms.CallOption) error {
	all, err := clients(base, model)
	for _, c := range all {
		text, err := llms.GenerateFromSinglePrompt(ctx, c, "hello", options...)
		if err != nil || !strings.Contains(text, "hello") {
			return fmt.Errorf("%T: %q, %v", c, text, err)
		}
	}
	return err
}

// noted returns an error if args are not the arguments that the test expects for its city.
func noted(args string) error {
	var got struct {
		Population int
		Latitude   float64
		Mayor      struct{ Age int }
	}
	if err := json.Unmarshal([]byte(args), &got); err != nil {
		return err
	}
	if got.Population != 2873000 || got.Latitude != 41.9 || got.Mayor.Age != 44 {
		return fmt.Errorf("arguments %s", args)
	}
	return nil
}

// loop asks a question that needs a tool, and sends the result of the model's call. It returns an
// error if the call or the final answer is wrong.
func loop(ctx context.Context, base, model string) error {
	return calls(ctx, base, model)
}

// required asks for a call with tool_choice "required". It returns an error if the call or the
// answer after it is wrong.
func required(ctx context.Context, base, model string) error {
	return calls(ctx, base, model, llms.WithToolChoice("required"))
}

// calls asks a question that needs a tool, sends the result of the call, and asks for the final
// answer. It returns an error if the call or the answer is wrong.
func calls(ctx context.Context, base, model string, options ...llms.CallOption) error {
	all, err := clients(base, model)
	if err != nil {
		return err
	}
	c, ask := all[0], []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, rome)}
	said, err := c.GenerateContent(ctx, ask, append(options, llms.WithTools([]llms.Tool{city}))...)
	if err != nil || len(said.Choices[0].ToolCalls) != 1 {
		return fmt.Errorf("%+v, %v", said, err)
	}
	call := said.Choices[0].ToolCalls[0]
	if err := noted(call.FunctionCall.Arguments); err != nil {
		return err
	}
	ask = append(ask, llms.MessageContent{Role: llms.ChatMessageTypeAI,
		Parts: []llms.ContentPart{call}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool,
			Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: call.ID,
				Name: call.FunctionCall.Name, Content: "noted well"}}})
	said, err = c.GenerateContent(ctx, ask, llms.WithTools([]llms.Tool{city}))
	if err != nil || !strings.Contains(said.Choices[0].Content, "noted well") {
		return fmt.Errorf("after the result: %+v, %v", said, err)
	}
	return nil
}

// structured asks for a JSON object that fits a schema. It returns an error if the answer is wrong.
func structured(ctx context.Context, base, model string) error {
	number := func(kind string) *openai.ResponseFormatJSONSchemaProperty {
		return &openai.ResponseFormatJSONSchemaProperty{Type: kind}
	}
	format := &openai.ResponseFormat{Type: "json_schema",
		JSONSchema: &openai.ResponseFormatJSONSchema{Name: "city", Strict: true,
			Schema: &openai.ResponseFormatJSONSchemaProperty{
				Type: "object", Required: []string{"population", "latitude", "mayor"},
				Properties: map[string]*openai.ResponseFormatJSONSchemaProperty{
					"population": number("integer"), "latitude": number("number"),
					"mayor": {Type: "object", Required: []string{"age"},
						Properties: map[string]*openai.ResponseFormatJSONSchemaProperty{
							"age": number(
								"integer")}},
				}}}}
	all, err := clients(base, model, openai.WithResponseFormat(format))
	if err != nil {
		return err
	}
	text, err := llms.GenerateFromSinglePrompt(ctx, all[0], `"Rome" has 41.9 degrees`)
	var got struct {
		Population *int
		Latitude   *float64
		Mayor      struct{ Age *int }
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &got)
	}
	if err != nil || got.Population == nil || got.Latitude == nil || *got.Latitude != 41.9 ||
		got.Mayor.Age == nil {
		return fmt.Errorf("%q, %v", text, err)
	}
	return nil
}
