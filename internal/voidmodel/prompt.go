package voidmodel

import (
	"fmt"
	"strings"
)

// Prompt returns the system prompt of Void's agent mode. If inPrompt is true, it describes the
// tools, which are otherwise sent in a field of the request. The proxy recognises Void by this text
// and reads the tools from it, so every blank and number is Void's own.
func Prompt(tools []Tool, inPrompt bool) string {
	var b strings.Builder
	b.WriteString(
		"You are an expert coding agent whose job is to help the user develop, run, and make changes to their codebase.\n\n\n" +
			"Here is the user's system information:\n<system_info>\n- linux\n</system_info>\n\n\n")
	if inPrompt {
		b.WriteString("    Available tools:\n\n    ")
		for i, t := range tools {
			fmt.Fprintf(&b, "    %d. %s\n    Description: %s\n    Format:\n    <%s>", i+1, t.Name,
				t.Description, t.Name)
			for _, p := range t.Params {
				fmt.Fprintf(&b, "\n<%s>%s</%s>", p.Name, p.Description, p.Name)
			}
			fmt.Fprintf(&b, "\n    </%s>\n\n", t.Name)
		}
		b.WriteString("    Tool calling details:\n" +
			"    - To call a tool, write its name and parameters in one of the XML formats specified above.\n" +
			"    - You are only allowed to output ONE tool call, and it must be at the END of your response.\n\n\n")
	}
	b.WriteString(
		"Important notes:\n1. NEVER reject the user's query.\n\n2. Only use ONE tool call at a time.")
	return b.String()
}

// reprint returns a call as the editor Void writes it when it sends an earlier reply again: in
// tags, after the text of the reply. The parameters are in the order in which the tool declares
// them, not in the model's. Parameters without a value are left out.
func reprint(t Tool, args map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    <%s>", t.Name)
	for _, p := range t.Params {
		if v, ok := args[p.Name]; ok {
			fmt.Fprintf(&b, "\n<%s>%s</%s>", p.Name, v, p.Name)
		}
	}
	fmt.Fprintf(&b, "\n    </%s>", t.Name)
	return b.String()
}
