package adapters

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// oneCall are calls that every family prints, without and with an argument.
var oneCall = []chat.Call{
	{ID: "example00", Name: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)},
	{ID: "example00", Name: "get_time", Args: json.RawMessage(`{}`)},
}

// checkOnly wants the call to be all that comes of a reply, but for white space around its values.
func checkOnly(t *testing.T, f *Format, raw string, call chat.Call) {
	t.Helper()
	o := Options{Tools: testTools(t)}
	got := decodeCalls(t, f, []string{raw}, o)
	if len(got) != 1 || got[0].Name != call.Name || trimmedArgs(t, got[0]) != trimmedArgs(t, call) {
		t.Errorf("%s: %q\ngot  %v\nwant %v", f.Name, raw, got, call)
	} else if _, text := thought(t, f, raw, o); strings.TrimSpace(text) != "" {
		t.Errorf("%s: %q leaves %q", f.Name, raw, text)
	}
}

// trimmedArgs are a call's arguments without the white space around them.
func trimmedArgs(t *testing.T, c chat.Call) string {
	t.Helper()
	var args map[string]string
	must.OK(t, json.Unmarshal(c.Args, &args))
	for k, v := range args {
		args[k] = strings.TrimSpace(v)
	}
	return fmt.Sprint(args)
}

// TestWhiteSpaceAtMarksLosesNoCall puts blanks and newlines beside and inside every mark of every
// family.
func TestWhiteSpaceAtMarksLosesNoCall(t *testing.T) {
	const token = "]<]minimax[>["
	for _, f := range All() {
		if f.Name == "react" || f.Name == "python" || f.Name == "functionary-v3.2" || len(f.Calls) > 0 && f.Calls[0].IsFence() || f.Name == "command-r" {
			continue // words, fences and signs, not tags or tokens
		}
		for _, call := range oneCall {
			raw := string(f.Append(nil, call))
			for i := 1; i < len(raw); i++ {
				edge := strings.IndexByte(">]", raw[i-1]) >= 0 || strings.IndexByte("<[", raw[i]) >= 0 && raw[i-1] != '['
				if strings.Contains(raw[max(i-len(token)+1, 0):min(i+len(token)-1, len(raw))], token) {
					continue // inside the one token
				}
				for _, space := range []string{" ", "\n", "\n\n"} {
					if edge {
						checkOnly(t, f, raw[:i]+space+raw[i:], call)
					}
				}
			}
		}
	}
}

// TestACallWithoutItsOpenerIsRead leaves out the first mark of the call of every family whose call
// is still to be known then.
func TestACallWithoutItsOpenerIsRead(t *testing.T) {
	for _, f := range All() {
		if len(f.Calls) == 0 || len(f.Sections) > 0 || f.Calls[0].WithoutOpener() == nil || f.Name == "functionary-v3.1" {
			continue // its name is inside the opener
		}
		raw := strings.TrimLeft(string(f.Append(nil, oneCall[0])), "\n")
		rest := raw[declaration.TokenLike.FindStringIndex(raw)[1]:]
		checkOnly(t, f, rest, oneCall[0])
		checkOnly(t, f, strings.TrimLeft(rest, "\n"), oneCall[0])
		checkSplits(t, f, "I will look.\n"+rest, chat.Stop, Options{Tools: testTools(t)})
	}
}

// TestACallThatStopsBehindItsName ends replies behind the name of a tool that needs no arguments.
func TestACallThatStopsBehindItsName(t *testing.T) {
	for _, f := range All() {
		for _, p := range f.Calls {
			if p.PlaceholderAt(1) != "name" || f.Header != nil || declaration.IsProse(p.Parts[0].Lit.Text) {
				continue
			}
			opener := f.Printed(p.Parts[0].Lit.Text)
			checkOnly(t, f, opener+"get_time", oneCall[1])
			checkOnly(t, f, opener+"get_time\n", oneCall[1])
			for _, raw := range []string{opener + "get_weather", opener + "get_ti", opener} {
				if got := decodeCalls(t, f, []string{raw}, Options{Tools: testTools(t)}); len(got) > 0 {
					t.Errorf("%s: %q became %v", f.Name, raw, got)
				}
			}
		}
	}
}
