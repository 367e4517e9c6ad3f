// Command shell asks in the client form "shell": tools that toolnorm serves are offered to the
// model, and a call comes as a command that any terminal runs as it is pasted. The client needs no
// idea of tools:
//
//	$ toolnorm &
//	$ go run ./examples/shell
//	I will use calculate_vacation_days for this.
//
//	```bash
//	toolrun calculate_vacation_days '{"employee_id":"EMP001","year":2025}'
//	```
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	openai "github.com/sashabaranov/go-openai"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:11435/v1", "where toolnorm serves")
	model := flag.String("model", "demo/hermes",
		"the model to ask; demo models need no model server")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *url, *model); err != nil {
		fmt.Fprintln(os.Stderr, "shell:", err)
		os.Exit(1)
	}
}

// run asks a model one question through toolnorm, and writes the answer to w. The suffix @shell of
// the model's name asks for calls as shell commands; the header Toolnorm-Client-Form would do so,
// too. It returns an error if the request fails.
func run(ctx context.Context, w io.Writer, url, model string) error {
	config := openai.DefaultConfig("no key needed")
	config.BaseURL = url
	reply, err := openai.NewClientWithConfig(config).CreateChatCompletion(ctx,
		openai.ChatCompletionRequest{
			Model: model + "@shell",
			Messages: []openai.ChatCompletionMessage{
				{Role: openai.ChatMessageRoleUser,
					Content: `How many vacation days has employee "EMP001" left in 2025?`}},
		})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, reply.Choices[0].Message.Content)
	return err
}
