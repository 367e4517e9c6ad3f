package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
)

// office is a desk with two tools that only read: one lists people, the other knows them by their
// ids.
func office(t *testing.T) *desk {
	t.Helper()
	yes := true
	d := &desk{registry: tools.New(tools.Options{Fit: new(toolargs.Reader).Fit}), names: []string{"hr"}}
	list := d.tool("hr.list_people", "Lists people.", json.RawMessage(`{"type":"object","properties":{}}`))
	info := d.tool("hr.get_info", "Tells of a person.", json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","description":"e.g. EMP001"},"kind":{"type":"string"}},"required":["id"]}`))
	fire := d.tool("hr.send_letter", "Sends a letter.", json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`))
	list.Hints.ReadOnly, info.Hints.ReadOnly = &yes, &yes
	must.OK(t, d.registry.Set("hr", list, info, fire))
	d.answer = func(name string, args json.RawMessage) tools.Result {
		if name == "hr.list_people" {
			return tools.TextOf(`{"people":[{"id":"EMP001","name":"Ann"},{"id":"EMP002","name":"Bob"},{"id":"EMP003","name":"Ivan Novák"},{"id":"EMP004","name":"Eve"}]}`)
		}
		return tools.TextOf(`{"about": ` + string(args) + `}`)
	}
	return d
}

// helped runs replies about a question, as a program and as a chat, and hands on what came of each.
func helped(t *testing.T, question string, replies []string, check func(ran []string, m *scripted, text string)) {
	t.Helper()
	for _, chats := range []bool{false, true} {
		d, m := office(t), &scripted{texts: replies}
		l := New(Config{Model: m, Tools: d.registry, Servers: d})
		request := chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Content: question}}}
		if chats {
			request.Model += Suffix
			text, _ := collected(t, l, &request)
			check(d.ran, m, text)
			continue
		}
		out, err := l.Run(t.Context(), Ask{Request: request, Closing: true}, nil)
		must.OK(t, err)
		check(d.ran, m, out.Text)
	}
}

// info is a call of hr.get_info, in words that both faces read.
func info(id string) string { return fenced("hr.get_info", `{"id": "`+id+`"}`) }

func TestIdentifiersThatNobodyHasSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		question string
		replies  []string
		ran      int
		told     bool
	}{
		"made up":              {"Where does Ivan work?", []string{info("EMP001"), "I do not know."}, 0, true},
		"made up and insisted": {"Where does Ivan work?", []string{info("EMP001"), info("EMP001"), "There."}, 1, true},
		"said":                 {"Where does emp001 work?", []string{info("EMP001"), "There."}, 1, false},
		"a part of one":        {"Where does EMP0012 work?", []string{info("EMP001"), "There."}, 0, true},
		"found":                {"Where does Ivan work?", []string{fenced("hr.list_people", "{}"), info("EMP003"), "There."}, 2, false},
		"no identifier":        {"Where does he work?", []string{info("Ivan"), "There."}, 1, false},
		"a tool that writes":   {"Write to Ivan.", []string{fenced("hr.send_letter", `{"id": "EMP009"}`), "Done."}, 1, false},
		"a free parameter":     {"What is EMP001?", []string{fenced("hr.get_info", `{"id": "EMP001", "kind": "v2"}`), "There."}, 1, false},
	} {
		helped(t, tt.question, tt.replies, func(ran []string, m *scripted, text string) {
			if told := strings.Contains(m.told(), "nobody has said"); len(ran) != tt.ran || told != tt.told {
				t.Errorf("%s: ran %q, told %v, text %q", name, ran, told, text)
			}
		})
	}
}

func TestWhatTheQuestionNamesIsPointedAt(t *testing.T) {
	for name, tt := range map[string]struct {
		question string
		reply    string
		told     string // that the model is told; with ! in front, that it is not
	}{
		"the second of two":        {"Compare EMP001 and EMP002.", info("EMP001"), "The question also names EMP002"},
		"one, twice":               {"Tell me of EMP001, just of EMP001.", info("EMP001"), "!also names"},
		"of another kind":          {"What is EMP001's part X77?", info("EMP001"), "!also names"},
		"the record that is meant": {"What id has Ivan Novák?", fenced("hr.list_people", "{}"), `(people: 4 in all; the question names {"id":"EMP003","name":"Ivan Novák"})`},
		"no record":                {"How many are they?", fenced("hr.list_people", "{}"), "(people: 4 in all)"},
	} {
		helped(t, tt.question, []string{tt.reply, "Done."}, func(ran []string, m *scripted, text string) {
			want, not := strings.CutPrefix(tt.told, "!")
			if strings.Contains(m.told(), want) == not {
				t.Errorf("%s: told %s", name, m.told())
			}
		})
	}
}

func TestAdviceIsNoAnswer(t *testing.T) {
	advice := "To find the names, you can use the `list_people` function."
	for name, tt := range map[string]struct {
		question string
		replies  []string
		ran      []string
		text     string
	}{
		"the tool is called":           {"Who works here?", []string{advice, fenced("hr.list_people", "{}"), "Ann and Bob."}, []string{"hr.list_people {}"}, "Ann and Bob."},
		"it has run":                   {"Who works here?", []string{fenced("hr.list_people", "{}"), advice, "Ann and Bob."}, []string{"hr.list_people {}"}, "Ann and Bob."},
		"it tells what was found":      {"Who works here?", []string{fenced("hr.list_people", "{}"), "The `list_people` function found Eve."}, []string{"hr.list_people {}"}, "The `list_people` function found Eve."},
		"a question about tools":       {"What does list_people do?", []string{advice}, nil, advice},
		"a tool that writes":           {"Write to him.", []string{"You can use send_letter for that."}, nil, "You can use send_letter for that."},
		"only once":                    {"Who works here?", []string{advice, advice, "I do not know."}, nil, "I do not know."},
		"a call that it cannot write":  {"Who works here?", []string{advice, refused, "I do not know."}, nil, "I do not know."},
		"a call that came in the last": {"Who works here?", []string{fenced("hr.list_people", "{}"), fenced("hr.list_people", "{}"), "Ann and Bob."}, []string{"hr.list_people {}"}, "Ann and Bob."},
	} {
		helped(t, tt.question, tt.replies, func(ran []string, m *scripted, text string) {
			if !slices.Equal(ran, tt.ran) || text != tt.text {
				t.Errorf("%s: ran %q, text %q, want %q", name, ran, text, tt.text)
			}
		})
	}
}

// TestACallIsToldOnce holds that a call that ran twice stands once in the closing question.
func TestACallIsToldOnce(t *testing.T) {
	helped(t, "What is EMP001?", []string{info("EMP001"), fenced("hr.send_letter", `{"id": "EMP001"}`), info("EMP001"), info("EMP001"), "That."}, func(ran []string, m *scripted, text string) {
		last := m.asked[len(m.asked)-1].Messages
		if told := last[len(last)-1].Content; len(ran) != 3 || strings.Count(told, `hr.get_info {"id":"EMP001"}`) != 1 {
			t.Errorf("ran %q, told %q", ran, told)
		}
	})
}

func TestAnswersThatRestOnNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		question string
		replies  []string
		ran      []string
		text     string
	}{
		"nothing was looked up": {"What is the name of EMP002?", []string{"I am sorry, but I cannot know that.", info("EMP002"), "It is Bob."},
			[]string{`hr.get_info {"id":"EMP002"}`}, "It is Bob."},
		"a number that nobody has said": {"When was Ivan Novák hired?", []string{fenced("hr.list_people", "{}"), "He was hired in 2023.", info("EMP003"), "In May."},
			[]string{"hr.list_people {}", `hr.get_info {"id":"EMP003"}`}, "In May."},
		"words about nothing that was found": {"Who is EMP001?", []string{info("EMP001"), "To verify the correctness of this, you can compare the output.", "Ann, EMP001."},
			[]string{`hr.get_info {"id":"EMP001"}`}, "Ann, EMP001."},
		"a name that is copied wrongly":  {"Name three of them.", []string{fenced("hr.list_people", "{}"), "Ann, Ivan Nowák, Eve."}, []string{"hr.list_people {}"}, "Ann, Ivan Novák, Eve."},
		"a name that the question has":   {"Is it Ivan Nowák?", []string{fenced("hr.list_people", "{}"), "No, Ivan Nowák is not among them, Eve is."}, []string{"hr.list_people {}"}, "No, Ivan Nowák is not among them, Eve is."},
		"an answer from what was found":  {"Who is EMP001?", []string{info("EMP001"), "EMP001 is the first of our people."}, []string{`hr.get_info {"id":"EMP001"}`}, "EMP001 is the first of our people."},
		"a question without identifiers": {"Who was Ada Lovelace, in 7 words?", []string{"She wrote programs in 1843, before computers."}, nil, "She wrote programs in 1843, before computers."},
	} {
		t.Run(name, func(t *testing.T) {
			helped(t, tt.question, tt.replies, func(ran []string, m *scripted, text string) {
				if !slices.Equal(ran, tt.ran) || strings.TrimSpace(text) != tt.text {
					t.Errorf("ran %v, text %q, asked %d times", ran, text, len(m.asked))
				}
			})
		})
	}
}

func TestOneOfAList(t *testing.T) {
	replies := []string{fenced("hr.list_people", "{}"), info("EMP001"), info("EMP001"), "Nobody knows."}
	helped(t, "What does a hotel cost?", replies, func(ran []string, m *scripted, text string) {
		// Every other tool takes the same identifier, so nothing better can be named.
		if len(ran) != 2 {
			t.Errorf("ran %v, text %q", ran, text)
		}
	})
}
