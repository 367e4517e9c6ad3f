package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/ocr"
	"toolnorm/tools"
)

// These are the tools of a knowledge base, with the names of the specification.
const (
	searchDocuments = "search_documents"
	summarize       = "get_knowledge_base_summary"
	normalizeOCR    = "normalize_ocr_text"
)

// knowledgeTools are the tools that a question about a knowledge base can need. The field question
// is the parameter in which the tool takes the user's question, or empty if it takes none.
var knowledgeTools = []struct{ name, about, question string }{
	{searchDocuments, "specific information in the documents of the knowledge base", "query"},
	{summarize, "an overview or statistics of the knowledge base: what it is, how many documents",
		""},
	{normalizeOCR, "turns hyphens that OCR misread in Japanese text into long-vowel marks", "text"},
}

// knowledge returns the toolset of a run about a knowledge base. It returns an error if this
// program lacks one of the knowledge base tools. Other tools are left out, because they have
// nothing to do with the base, and because small models can choose among three.
func (l *Loop) knowledge(ctx context.Context) (*toolset, error) {
	var all []tools.Tool
	for _, t := range l.own(ctx, nil) {
		name := strings.TrimPrefix(t.Name, local+".")
		if slices.ContainsFunc(knowledgeTools, func(k struct{ name, about, question string }) bool {
			return k.name == name
		}) {
			all = append(all, t)
		}
	}
	// All three must be there: they are offered together, and a choice of a missing tool would be
	// worse than this error.
	if len(all) < len(knowledgeTools) {
		return nil, fault.New(fault.Invalid,
			"knowledge_base_id: this server has no tools of knowledge bases")
	}
	return newToolset(all, nil), nil
}

// consult calls a knowledge base tool before the first step: the one that the caller names, or else
// one of three that the model chooses. If the model cannot be asked, or its answer cannot be
// parsed, a rule chooses the tool. It returns an error if the tool that the caller names is
// unknown, the context has ended, or the server is busy.
func (r *run) consult(ctx context.Context) error {
	var call *chat.Call
	if r.ask.Force != "" {
		name, err := r.tools.named(r.ask.Force)
		if err != nil {
			return err
		}
		// The first step comes after this call, so it need not call the tool again.
		call, r.ask.Force, r.out.Chosen = &chat.Call{Name: name}, "", "forced"
	} else {
		var err error
		call, err = r.picked(ctx, choiceOfKnowledge(), knowledgeNames())
		switch f := fault.From(err); {
		case err == nil:
		case context.Cause(ctx) != nil:
			return gone(context.Cause(ctx))
		// the server would be busy for the request of the answer as well
		case f.Kind == fault.Busy || f.Kind == fault.Limited:
			return err
		default:
			r.out.Warnings = append(r.out.Warnings,
				"the tool is chosen by a rule, since the model failed: "+f.Message)
		}
		if r.out.Chosen = "llm"; call == nil {
			call, r.out.Chosen = &chat.Call{Name: local + "." + knowledgeTool(r.asked())}, "rule"
		}
	}
	r.open(ctx, *call)
	return nil
}

// knowledgeNames returns the names of the tools among which a model chooses.
func knowledgeNames() (names []string) {
	for _, k := range knowledgeTools {
		names = append(names, k.name)
	}
	return names
}

// choiceOfKnowledge returns the question in which a model is asked to choose a tool. It lists the
// tools by number, as the specification does. It has no schemas, because the caller sets the
// knowledge base, and the user's question fills a missing argument.
func choiceOfKnowledge() string {
	var b strings.Builder
	b.WriteString(
		"Which of these tools helps with the request above? Answer with JSON alone: {\"tool_name\": \"…\", \"arguments\": {…}}.\n")
	for i, k := range knowledgeTools {
		fmt.Fprintf(&b, "%d. %s: %s", i+1, k.name, k.about)
		if k.question != "" {
			fmt.Fprintf(&b, "; arguments: {\"%s\": \"…\"}", k.question)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// asked returns the user's question, or "" if there is none. That is the user's last message
// without what the client added to it, because a search for Claude Code's reminders finds no
// document.
func (r *run) asked() string {
	for _, m := range slices.Backward(r.ask.Request.Messages) {
		if m.Role != chat.User {
			continue
		}
		if text := strings.TrimSpace(chat.Asked(m.Content)); text != "" {
			return text
		}
	}
	return ""
}

// consulted returns the result of the last tool that has run, or "" if none has.
func (r *run) consulted() string {
	for _, m := range slices.Backward(r.turns) {
		if m.Role == chat.ToolRole {
			return m.Content
		}
	}
	return ""
}

// settable are the arguments of the three tools that a model may choose. All others are dropped, so
// that none remains that the tool's reader could take for another spelling of knowledge_base_id.
var settable = []string{"query", "text", "threshold", "max_results"}

// bound returns a call of a knowledge base tool with the caller's knowledge base in its arguments,
// whatever the model wrote there, and with the user's question if the call has none. It returns
// other calls unchanged, and all calls if the run is not about a knowledge base.
func (r *run) bound(c chat.Call) chat.Call {
	name, own := strings.CutPrefix(c.Name, local+".")
	at := slices.IndexFunc(knowledgeTools, func(k struct{ name, about, question string }) bool {
		return k.name == name
	})
	if r.ask.Base == "" || !own || at < 0 {
		return c
	}
	var said map[string]json.RawMessage
	_ = json.Unmarshal(c.Args, &said) // what is not an object counts as empty
	args := map[string]any{}
	for _, key := range settable {
		if value, ok := said[key]; ok {
			args[key] = value
		}
	}
	if key := knowledgeTools[at].question; key != "" {
		var text string
		if json.Unmarshal(said[key], &text) != nil || strings.TrimSpace(text) == "" {
			args[key] = r.asked()
		}
	}
	// The tool that normalizes text does not read a base, and its schema refuses unknown members.
	if name != normalizeOCR {
		args["knowledge_base_id"] = r.ask.Base
	}
	c.Args, _ = chat.JSON(args) // texts and values that were JSON always encode
	return c
}

// These match the words by which knowledgeTool recognizes a question about the base itself: how
// many, an overview, statistics, and "KBについて", which means "about the base". In contrast,
// "このKBで副業について" asks for something in the base.
var (
	countWords = regexp.MustCompile(
		`(?i)何件|何個|いくつ|件数|概要|統計|サマリー|overview|summary|statistics|how many|몇|개요|통계|요약`)
	ofTheBase = regexp.MustCompile(
		`(?i)(^|[^0-9a-z])KB([^0-9a-z]|$)|ナレッジベース|knowledge base|지식 ?베이스`)
	aboutBase = regexp.MustCompile(
		`(?i)(KB|ナレッジベース|지식 ?베이스) ?(について|に関して|とは|は何|에 대해)|about (this|the) (KB|knowledge base)`)
	ocrMarker = regexp.MustCompile(`(?i)(^|[^0-9a-z])OCR([^0-9a-z]|$)`)
)

// knowledgeTool chooses one of the knowledge base tools without a model, by rules, and returns its
// name. For text with OCR errors, or with a hyphen after katakana, it is the tool that normalizes
// them. For a question about the base itself, it is the summary. For everything else it is the
// search.
func knowledgeTool(question string) string {
	switch {
	case ocrMarker.MatchString(question) || ocr.HasCandidate(question):
		return normalizeOCR
	case aboutBase.MatchString(question) || ofTheBase.MatchString(question) &&
		countWords.MatchString(question):
		return summarize
	}
	return searchDocuments
}
