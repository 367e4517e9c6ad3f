package agent

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/tools"
)

// readTools reads the tools of files of testdata/find, a tool a line: server.name(parameters)
// description. They are those of stock servers, of which one is there three times.
func readTools(t testing.TB, files ...string) (all []tools.Tool) {
	t.Helper()
	var text []byte
	for _, file := range files {
		more, err := os.ReadFile("testdata/find/" + file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, more...)
	}
	for _, m := range regexp.MustCompile(`(?m)^([\w.-]+)\(([^)]*)\) (.+)$`).FindAllStringSubmatch(string(text), -1) {
		var properties []string
		for _, p := range strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' }) {
			properties = append(properties, `"`+p+`":{"type":"string"}`)
		}
		all = append(all, tools.Tool{Name: m[1], Description: m[3], Schema: []byte(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)})
	}
	return all
}

// found counts the questions of a file whose tool is among the five that a search finds, and those
// whose tool is the first.
func found(t testing.TB, ts *toolset, file string) (five, first, all int) {
	t.Helper()
	text, err := os.ReadFile("testdata/find/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		question, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		var names []string
		for _, tool := range ts.rank(question) {
			names = append(names, tool.Name)
		}
		at := slices.IndexFunc(names, func(name string) bool { return slices.Contains(strings.Fields(want), name) })
		if all++; at == 0 {
			first++
		}
		if at >= 0 && at < mostFound {
			five++
		} else {
			t.Logf("%s: %s is at %d behind %q", question, want, at, names[:min(3, len(names))])
		}
	}
	return five, first, all
}

// TestSearchFindsTools holds how many of the questions find their tool. heldout.txt was written
// before, and not looked at while the weights were chosen; heldout2.txt to heldout4.txt and
// languages.txt say what words alone do not find, and were seen when the words that people have for
// tools were listed. heldout5.txt was written behind that list and changed nothing: it is the
// figure that counts.
func TestSearchFindsTools(t *testing.T) {
	ts := newToolset(readTools(t, "tools.txt"), nil)
	for file, want := range map[string]int{"questions.txt": 25, "heldout.txt": 25, "heldout2.txt": 40, "heldout3.txt": 25, "heldout4.txt": 36, "heldout5.txt": 31, "languages.txt": 36} {
		five, first, all := found(t, ts, file)
		t.Logf("%s: %d of %d among the first five, %d first", file, five, all, first)
		if five < want {
			t.Errorf("%s: %d of %d are found, want %d", file, five, all, want)
		}
	}
}

// TestSearchFindsToolsAmongMany holds the same among the tools of six more servers, several of
// which do what another does. Both files were written before anything was tried on them. Nothing
// was chosen by them; one more field was tried with the first, and left out.
func TestSearchFindsToolsAmongMany(t *testing.T) {
	ts := newToolset(readTools(t, "tools.txt", "more_tools.txt"), nil)
	for file, want := range map[string]int{"many.txt": 39, "many2.txt": 22} {
		five, first, all := found(t, ts, file)
		t.Logf("%s: %d of %d among the first five of %d tools, %d first", file, five, all, len(ts.list), first)
		if five < want {
			t.Errorf("%s: %d of %d are found, want %d", file, five, all, want)
		}
	}
}

// meanings is an embedder that knows which words mean one thing, a dimension each.
func meanings(_ context.Context, texts []string) ([][]float32, error) {
	same := [][]string{{"directions", "drive me from"}, {"delete rows", "INSERT, UPDATE"}, {"how far is it", "distance"}}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, len(same)+1)
		out[i][len(same)] = 0.1
		for j, words := range same {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(w)) }) {
				out[i][j] = 1
			}
		}
	}
	return out, nil
}

// TestSearchByMeaning holds that an embedder adds what words do not find, and takes nothing away.
func TestSearchByMeaning(t *testing.T) {
	ts := newToolset(readTools(t, "tools.txt"), nil)
	at := func(embed Embed, question, want string) int {
		return slices.IndexFunc(ts.search(t.Context(), embed, question), func(tool tools.Tool) bool { return tool.Name == want })
	}
	failing := func(context.Context, []string) ([][]float32, error) { return nil, errors.New("down") }
	short := func(context.Context, []string) ([][]float32, error) { return nil, nil }
	const question, want = "drive me from Berlin to Hamburg", "maps.maps_directions"
	if n := at(meanings, question, want); n < 0 || n >= mostFound {
		t.Errorf("%s is at %d", want, n)
	}
	for _, embed := range []Embed{nil, failing, short} {
		if n := at(embed, question, want); n != -1 {
			t.Errorf("without vectors %s is at %d", want, n)
		}
		if n := at(embed, "what time is it in Seoul", "time.get_current_time"); n < 0 || n >= mostFound {
			t.Errorf("get_current_time is at %d", n)
		}
	}
	if n := at(meanings, "what time is it in Seoul", "time.get_current_time"); n < 0 || n >= mostFound {
		t.Errorf("get_current_time is at %d with vectors", n)
	}
}

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
