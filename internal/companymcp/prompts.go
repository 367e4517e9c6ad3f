package companymcp

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// template is a prompt: a text into which arguments are inserted. It names the tools to use, so
// that a small model need not find out which.
type template struct {
	name, title, about string
	args               []argument
	text               string // with a %s for each argument, in their order
}

// argument is a value that a user fills in. It is required, because clients show a form for each
// prompt, and an empty field would leave a gap in the sentence.
type argument struct{ name, about string }

// templates are the prompts that do not contain a document.
var templates = [...]template{
	{
		"ask_company", "Ask the company's documents",
		"Answers a question from the company's documents, and says from which.",
		[]argument{{"question", "What you want to know."}},
		"Answer this question from the company's documents: %s\n\nSearch them with search_docs, with one or two telling words at a time and other words when nothing is found. " +
			"Say only what the documents say, name the ones you used by title, and say so when they do not answer the question.",
	},
	{
		"vacation_report", "Vacation report",
		"Says how much vacation an employee has, has taken and has left.",
		[]argument{{"employee_id", "As EMP001; get_all_employees lists them."},
			{"year", "As 2026."}},
		"Write a short vacation report about employee %s for the year %s: name, department and days of service (get_employee_info), " +
			"then total, used and remaining days of vacation (calculate_vacation_days). If a tool says that there are no data, report that and make nothing up.",
	},
}

// addPrompts registers the prompts. The one about a document embeds the document's text, so that a
// client without tools, or a model that cannot call them, can summarize it as well.
func addPrompts(s *server.MCPServer, docs Library) {
	for _, t := range templates {
		s.AddPrompt(t.prompt(), t.fill)
	}
	summarize := template{
		"summarize_document", "Summarize a document",
		"Summarizes a document of the company in a few sentences.",
		[]argument{{"document", "Its number, as the list of resources and search_docs give it."}},
		"",
	}
	s.AddPrompt(summarize.prompt(), func(ctx context.Context, r mcp.GetPromptRequest) (
		*mcp.GetPromptResult, error) {
		// only the number, because people type it and would not type a whole address
		d, err := read(ctx, docs, scheme+r.Params.Arguments["document"])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", mcp.ErrInvalidParams, err)
		}
		return mcp.NewGetPromptResult(summarize.about, []mcp.PromptMessage{
			mcp.NewPromptMessage(mcp.RoleUser, mcp.NewEmbeddedResource(contents(d))),
			mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(
				"Summarize this document in at most five sentences, in its own language. Keep every number and date.")),
		}), nil
	})
}

// prompt returns the declaration of the prompt that clients see.
func (t template) prompt() mcp.Prompt {
	options := []mcp.PromptOption{mcp.WithPromptTitle(t.title), mcp.WithPromptDescription(t.about)}
	for _, a := range t.args {
		options = append(options, mcp.WithArgument(a.name, mcp.ArgumentDescription(a.about),
			mcp.RequiredArgument()))
	}
	return mcp.NewPrompt(t.name, options...)
}

// fill returns the prompt with its arguments inserted. If an argument is missing, the error is
// ErrInvalidParams, code -32602, with a sentence that names it.
func (t template) fill(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	var values []any
	for _, a := range t.args {
		v := r.Params.Arguments[a.name]
		// mcp-go declares that an argument is required, and does not check it.
		if v == "" {
			return nil, fmt.Errorf("%w: the prompt %s needs %s", mcp.ErrInvalidParams, t.name,
				a.name)
		}
		// The values are in the order of the template's %s. They are inserted unchanged, since the
		// result is a message of the user, who may say anything.
		values = append(values, v)
	}
	return mcp.NewGetPromptResult(t.about, []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(fmt.Sprintf(t.text, values...))),
	}), nil
}
