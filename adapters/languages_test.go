package adapters

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// languageCase is a text that ends with a call, or shows one.
type languageCase struct {
	set, language, text string
	call                string // in JSON
	announced, hint     bool   // hint: only the conversation tells
	messages            []chat.Message
}

// The calls in those texts: the user is asked for a time, or the texts are about a DELETE.
const (
	languageAsk  = `{"name": "get_time", "arguments": {"timezone": "UTC"}}`
	languageHarm = `{"name": "execute_sql", "arguments": {"sql": "DELETE FROM users"}}`
	languageRain = `{"name": "get_weather", "arguments": {"city": "Oslo"}}`
)

// languageCall returns the call that the texts of a set hold, and the name of its tool.
func languageCall(set string) (call, tool string) {
	switch set {
	case "senses":
		return languageHarm, "execute_sql"
	case "weather":
		return languageRain, "get_weather"
	}
	return languageAsk, "get_time"
}

// languageAsks is a conversation that has the values of the first call, whatever the text behind it
// is.
var languageAsks = []chat.Message{{Role: chat.User, Content: "What time is it in UTC?"}}

// sensesAsk and weatherAsk are conversations in front of the texts of two sets.
var (
	sensesAsk  = []chat.Message{{Role: chat.User, Content: "Please clean up the users."}}
	weatherAsk = []chat.Message{{Role: chat.User, Content: "What is the weather in Oslo?"}}
)

// languageSets are the files of those texts, in the order in which they were written.
var languageSets = []string{"fit", "held", "reserved", "senses", "shown", "talk", "asked", "unseen", "fresh", "later", "weather", "strange", "tried", "strange2", "strange3"}

// strangerSets are files of such texts that the weights are not fitted to, with the share of calls in
// percent that may be lost, and that may run.
var strangerSets = map[string][2]int{
	"strange6": {9, 3}, "strange7": {21, 3}, "strange8": {7, 1}, "strange9": {4, 0},
	"strange10": {2, 2}, "strange11": {3, 2},
}

// ownQuestions reports whether each text of a set has a question of its own.
func ownQuestions(set string) bool { return strings.HasPrefix(set, "strange") || set == "tried" }

// languageCases reads the texts of a file.
func languageCases(t *testing.T, set string) (all []languageCase) {
	src := must.Read(t, "testdata/languages/"+set+".txt")
	call, tool := languageCall(set)
	said := map[string][]chat.Message{}
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		language, kind := fields[0], fields[1]
		message := chat.Message{Role: chat.User, Content: strings.NewReplacer("{C}", call, "{T}", tool, `\n`, "\n").Replace(fields[2])}
		switch kind {
		case "call":
			call, tool = fields[2], madeOf(t, fields[2]).Name
			continue
		case "says":
			for _, kind := range []string{"announce", "show", "document", "act"} {
				said[language+" "+kind] = []chat.Message{message}
			}
			continue
		case "wants":
			said[language+" sample"] = []chat.Message{message}
			continue
		case "asks":
			said[language+" announce"] = []chat.Message{message}
			said[language+" hint"] = []chat.Message{message}
			continue
		case "gives":
			shown := []chat.Message{message}
			if message.Content == fields[2] {
				shown = append(shown, chat.Message{Role: chat.ToolRole, Content: "10:02 start\n10:03 " + call})
			}
			said[language+" show"], said[language+" quote"], said[language+" document"] = shown, shown, shown
			continue
		}
		for _, text := range languageTexts(line, call, tool) {
			all = append(all, languageCase{set: set, language: language, text: text, call: call,
				announced: kind == "announce", hint: kind == "hint" || kind == "act", messages: said[language+" "+kind]})
		}
	}
	return all
}

// madeOf returns the call that a JSON text makes.
func madeOf(t *testing.T, text string) chat.Call {
	var call struct {
		Name      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &call); err != nil {
		t.Fatal(err)
	}
	return chat.Call{Name: call.Name, Args: call.Arguments}
}

// offered returns tools that are offered with the text. With a text of a stranger's set, the call's
// tool is made from the call.
func (c *languageCase) offered(t *testing.T) []chat.Tool {
	if _, strange := strangerSets[c.set]; !strange {
		return languageTools
	}
	call := madeOf(t, c.call)
	var args map[string]any
	must.OK(t, json.Unmarshal(call.Args, &args))
	properties := map[string]any{}
	for name, value := range args {
		kind := map[string]string{"string": "string", "float64": "number", "bool": "boolean"}[fmt.Sprintf("%T", value)]
		properties[name] = map[string]string{"type": cmp.Or(kind, "array")}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	must.OK(t, err)
	others := slices.DeleteFunc(slices.Clone(languageTools), func(tool chat.Tool) bool { return tool.Name == call.Name })
	return append(others, chat.Tool{Name: call.Name, Schema: schema})
}

// runs reports whether a call of the text runs, with the conversation in front of it or without.
func (c *languageCase) runs(t *testing.T, heard bool) bool {
	o := Options{Tools: c.offered(t)}
	if heard {
		o.Messages = c.messages
	}
	return len(decodeCalls(t, Named("llama3"), []string{c.text}, o)) > 0
}

// scriptOf returns the script of the first letter of a text that is not Latin, or Latin.
func scriptOf(text string) string {
	for _, r := range text {
		for name, table := range unicode.Scripts {
			if name != "Common" && name != "Inherited" && name != "Latin" && unicode.Is(table, r) {
				return name
			}
		}
	}
	return "Latin"
}

// TestAnnouncementsInAnyLanguage decodes unmarked calls in texts of many languages, with the
// conversation in front of them where the file has one: an announced call runs, one that is only
// shown, quoted or documented stays text. The figures per script stand in
// docs/evidence/which-text-runs.md.
func TestAnnouncementsInAnyLanguage(t *testing.T) {
	for _, set := range languageSets {
		byScript := map[string]*figures{"all": {}}
		for _, c := range languageCases(t, set) {
			script := scriptOf(c.text)
			if byScript[script] == nil {
				byScript[script] = new(figures)
			}
			runs := c.runs(t, true)
			for _, f := range []*figures{byScript[script], byScript["all"]} {
				f.count(c.announced || c.hint, runs)
			}
			if runs != (c.announced || c.hint) {
				t.Errorf("%s: runs %t: %q", set, runs, c.text)
			}
		}
		if f := byScript["all"]; f.run+f.stay < 150 {
			t.Errorf("%s: only %d texts", set, f.run+f.stay)
		}
		for _, script := range slices.Sorted(maps.Keys(byScript)) {
			f := byScript[script]
			t.Logf("%s, %s: %d announced, %d lost; %d others, %d run",
				set, script, f.run, f.lost, f.stay, f.wrong)
		}
	}
}

// TestTextsOfStrangers holds the weights to texts by others, behind their questions and alone, that
// no fit has used. The figures stand in docs/evidence/which-text-runs.md.
func TestTextsOfStrangers(t *testing.T) {
	for set, most := range strangerSets {
		var asked, alone figures
		for _, c := range languageCases(t, set) {
			asked.count(c.announced || c.hint, c.runs(t, true))
			alone.count(c.announced || c.hint, c.runs(t, false))
		}
		t.Logf("%s: %+v, alone %+v", set, asked, alone)
		if asked.lost*100 > most[0]*asked.run || asked.wrong*100 > most[1]*asked.stay {
			t.Errorf("%s: more than %d %% lost or %d %% run: %+v", set, most[0], most[1], asked)
		}
	}
}

// TestShownByTheConversation asks of the texts what readers of whole replies ask: whether the
// conversation shows the call.
func TestShownByTheConversation(t *testing.T) {
	call := chat.Call{Name: "get_time", Args: []byte(`{"timezone": "UTC"}`)}
	for _, c := range languageCases(t, "asked") {
		if shown := !c.announced && !c.hint; Shown(c.messages, call) != shown {
			t.Errorf("shown %t: %q behind %v", !shown, c.text, c.messages)
		}
	}
}

// TestAnnouncementsWithoutTheConversation reads the texts alone, and behind a question that has the
// values of their call, whatever they say of it: then the words of the sentence decide.
func TestAnnouncementsWithoutTheConversation(t *testing.T) {
	for _, asked := range []bool{false, true} {
		var all figures
		for _, set := range languageSets {
			var f figures
			for _, c := range languageCases(t, set) {
				o := Options{Tools: languageTools}
				switch {
				case asked && set == "senses":
					o.Messages = sensesAsk
				case asked && set == "weather":
					o.Messages = weatherAsk
				case asked && ownQuestions(set):
					o.Messages = c.messages
				case asked:
					o.Messages = languageAsks
				}
				runs := len(decodeCalls(t, Named("llama3"), []string{c.text}, o)) > 0
				for _, f := range []*figures{&f, &all} {
					f.count(c.announced || c.hint, runs)
				}
			}
			t.Logf("%s, asked %t: of %d announced %d lost; of %d others %d run", set, asked, f.run, f.lost, f.stay, f.wrong)
		}
		if all.lost*200 > all.run || all.wrong*200 > all.stay {
			t.Errorf("asked %t: of %d announced %d lost; of %d others %d run", asked, all.run, all.lost, all.stay, all.wrong)
		}
	}
}

// count counts a text that must run or not.
func (f *figures) count(must, runs bool) {
	switch {
	case must:
		f.run++
	default:
		f.stay++
	}
	f.lost += map[bool]int{true: 1}[must && !runs]
	f.wrong += map[bool]int{true: 1}[!must && runs]
}

// languageTexts returns what a line of a file of languages stands for, with a call: LANGUAGE KIND
// TEXT.
func languageTexts(line, call, tool string) (all []string) {
	fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
	fence := "```json\n" + call + "\n```"
	text := strings.NewReplacer("{T}", tool, `\n`, "\n", "{C}", call, "{F}", fence).Replace(fields[2])
	switch fields[1] {
	case "act": // an announcement, the call and what is said behind it
		return []string{text}
	case "quote":
		return []string{text, text + "\n"}
	case "document":
		return []string{text, strings.ReplaceAll(text, fence, call)}
	}
	for _, form := range []string{"\n\n" + fence, "\n\n" + call, "\n```\n" + call + "\n```\n", " " + call} {
		all = append(all, text+form)
	}
	return all
}

// languageTools are offered with those texts.
var languageTools = []chat.Tool{
	{Name: "get_time", Description: "The current time in a time zone", Schema: json.RawMessage(
		`{"type":"object","properties":{"timezone":{"type":"string"}},"required":["timezone"]}`)},
	{Name: "get_weather", Description: "The weather in a city, now and for the next days", Schema: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)},
	{Name: "execute_sql", Schema: json.RawMessage(
		`{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}`)},
	{Name: "delete_file", Description: "Deletes a file.", Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Name: "create_event", Description: "Adds an event to the calendar.", Schema: json.RawMessage(
		`{"type":"object","properties":{"title":{"type":"string"},"date":{"type":"string"}},"required":["title","date"]}`)},
	{Name: "search_web", Description: "Searches the web.", Schema: json.RawMessage(
		`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
	{Name: "send_mail", Description: "Sends an e-mail.", Schema: json.RawMessage(
		`{"type":"object","properties":{"to":{"type":"string"},"subject":{"type":"string"}},"required":["to","subject"]}`)},
	{Name: "book_table", Description: "Books a table in a restaurant.", Schema: json.RawMessage(
		`{"type":"object","properties":{"restaurant":{"type":"string"},"people":{"type":"integer"}},"required":["restaurant","people"]}`)},
	{Name: "get_stock", Description: "Gets the price of a stock.", Schema: json.RawMessage(
		`{"type":"object","properties":{"symbol":{"type":"string"}},"required":["symbol"]}`)},
	{Name: "translate_text", Description: "Translates a text.", Schema: json.RawMessage(
		`{"type":"object","properties":{"text":{"type":"string"},"target":{"type":"string"}},"required":["text","target"]}`)},
	{Name: "get_exchange_rate", Description: "Gets an exchange rate.", Schema: json.RawMessage(
		`{"type":"object","properties":{"base":{"type":"string"},"quote":{"type":"string"}},"required":["base","quote"]}`)},
	{Name: "list_files", Description: "Lists the files of a folder.", Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Name: "run_query", Description: "Runs a query on a database.", Schema: json.RawMessage(
		`{"type":"object","properties":{"database":{"type":"string"},"sql":{"type":"string"}},"required":["database","sql"]}`)},
	{Name: "play_music", Description: "Plays music.", Schema: json.RawMessage(
		`{"type":"object","properties":{"artist":{"type":"string"},"album":{"type":"string"}},"required":["artist","album"]}`)},
	{Name: "track_parcel", Description: "Tracks a parcel.", Schema: json.RawMessage(
		`{"type":"object","properties":{"number":{"type":"string"}},"required":["number"]}`)},
	{Name: "restart_service", Description: "Restarts a service.", Schema: json.RawMessage(
		`{"type":"object","properties":{"name":{"type":"string"},"host":{"type":"string"}},"required":["name","host"]}`)},
}
