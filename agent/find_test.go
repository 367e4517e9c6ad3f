package agent

import (
	"slices"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/tools"
)

// thousand are tools as an administrator imports them: the same words in each, and one combination
// of them a tool.
func thousand() (all []tools.Tool) {
	for _, thing := range strings.Fields("customer order invoice product supplier warehouse shipment payment refund employee contract ticket visit campaign lead meeting project asset license sensor") {
		for _, act := range strings.Fields("count list latest oldest total average largest smallest search export") {
			for _, region := range strings.Fields("north south east west central") {
				reads := true
				all = append(all, tools.Tool{
					Hints: tools.Hints{ReadOnly: &reads},
					Name:  "local." + act + "_" + thing + "s_" + region, Description: act + " the " + thing + "s of the " + region + " region.",
					Schema: []byte(`{"type":"object","properties":{"department":{"type":"string"}},"required":["department"]}`),
				})
			}
		}
	}
	return all
}

// TestASearchLooksAtTheQuestion holds that a model whose query is a name out of the question gets
// the tool that the question asks for, among a thousand.
func TestASearchLooksAtTheQuestion(t *testing.T) {
	ts := newToolset(thousand(), nil)
	const want = "local.list_invoices_north"
	for _, c := range []struct{ question, query string }{
		{"List the invoices of the north region for Sales.", "Sales"},
		{"List the invoices of the north region for EMP001.", "EMP001"},
		{"List the invoices of the north region for Sales.", "the north region"}, // has hits, none of them better than another
		{"List the invoices of the north region for Sales.", "List the invoices of the north region for Sales."},
		{strings.Repeat("a line of a file\n", 1000) + "List the invoices of the north region.", "line of a file"},
		{"Do it again.", "list invoices north"},
		{"How is the north?", "list invoices"}, // five have these words, and one of them is the user's
		{"", "list invoices north"},
	} {
		ts.question = c.question
		found := ts.lookup(t.Context(), c.query)
		if len(found) > mostFound || !slices.ContainsFunc(found, func(tool tools.Tool) bool { return tool.Name == want }) {
			var names []string
			for _, tool := range found {
				names = append(names, tool.Name)
			}
			t.Errorf("%q of %.60q finds %q", c.query, c.question, names)
		}
	}
	ts.question = "Hello."
	if found := ts.lookup(t.Context(), "Sales"); len(found) > 0 {
		t.Errorf("nothing asks for %s", found[0].Name)
	}
}

func TestASearchOfARunLooksAtTheQuestion(t *testing.T) {
	d := newDesk(t)
	m := &scripted{texts: []string{fenced("search_tools", `{"query": "Sales"}`), callOfAdd, "It is 3."}}
	out, err := New(Config{Model: m, Tools: d.registry, Servers: d, ToolTokens: 10}).Run(t.Context(), Ask{Request: question("Add the numbers 1 and 2 for Sales.")}, nil)
	if err != nil || out.Text != "It is 3." || !strings.Contains(m.told(), `"name":"calc.add","description"`) {
		t.Errorf("%v, %+v, told\n%s", err, out, m.told())
	}
}

// TestOfSeveralNamesTheQuestionChooses holds which tool a run calls for a model that only repeats
// what its search has found.
func TestOfSeveralNamesTheQuestionChooses(t *testing.T) {
	text := "You can call local.average_payments_central, local.average_payments_south or local.average_payments_west."
	for asked, want := range map[string]string{
		"What are the average payments in the south?": "local.average_payments_south",
		"And in the west?":                            "local.average_payments_west",
		"Hello.":                                      "local.average_payments_south", // nothing speaks for another: the first in order
	} {
		r := &run{tools: newToolset(thousand(), nil), ask: Ask{Request: question(asked)}}
		if got := r.advised(text); got != want {
			t.Errorf("%s: %q, want %q", asked, got, want)
		}
		r.facts = []fact{{call: chat.Call{Name: want}}}
		if got := r.advised(text); got != "" {
			t.Errorf("%s: %q has run", asked, got)
		}
	}
}
