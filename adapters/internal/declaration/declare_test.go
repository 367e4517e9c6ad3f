package declaration

import "testing"

// TestWhatALineLacksIsSaidInWords has lines as authors of families get them wrong.
func TestWhatALineLacksIsSaidInWords(t *testing.T) {
	for line, want := range map[string]string{
		"arg {key}={value}</p>":    "arg needs a mark before {key}, between {key} and {value}, and after {value}; yours has none before {key}",
		"arg <p={key}>{value}":     "arg needs a mark before {key}, between {key} and {value}, and after {value}; yours has none after {value}",
		"arg <p={key}{value}</p>":  "arg needs a mark before {key}, between {key} and {value}, and after {value}; yours has none between {key} and {value}",
		"arg <p>{value}</p>":       "arg needs a mark before {key}, between {key} and {value}, and after {value}; yours has {value}",
		"think <t>thoughts</t>":    "think needs a mark before {reasoning} and after {reasoning}; yours has no placeholder",
		"think":                    "think needs a mark before {reasoning} and after {reasoning}; yours has no placeholder",
		"section <a>{calls}":       "section needs a mark before {calls} and after {calls}; yours has none after {calls}",
		"header <a>{junk}{junk}":   "header needs a mark before {junk} and after {junk}; yours has {junk} {junk}",
		"message <m>{name}{json}":  "message needs a mark before {name} and between {name} and {json}; yours has none between {name} and {json}",
		"call <c>{city}</c>":       "no placeholder {city}",
		"call <{name}>{json}":      `call must begin with a mark of at least two bytes; "<" is shorter`,
		"call {json}":              "a call needs {name} or {id} behind a mark, or a placeholder that holds the name: {call}, {calls}, {named}, {python}",
		"calls <c>{call}</c>":      `no kind of line "calls": docs/families.md has the list`,
		"drop x":                   `the mark "x" is too short to be one`,
		"route to=* {shout}":       "no body {shout} in a route",
		"result <r>{value}</r>":    "no {value} in a line about results",
		"results <r>nothing</r>":   "a line about results needs {results}",
		"wording loud":             `"loud" is no wording: there are schemas, signatures, example`,
		"text {text}</end>":        "text needs a mark before {text} and after {text}; yours has none before {text}",
		"call <c>{args}</c>{name}": "{args} needs an arg line, {pseudo} a quote line",
		"call <c>{name}":           "{name} needs a mark behind it",
		"call <c>{key}{call}":      "no {key} in a line about calls",
		"call <c>{calls}{json}":    "a call holds its arguments once",
		"header <a>{junk}<b>\nends <c> <d>\nmessage <a>to={name}<b>{json}":     "a message needs a blank in front of its recipient",
		"header <a>{junk}<b>\nends <c> <d>\nmessage <a>me to={name}<b>{calls}": "{calls} in a message needs a section line and a call line",
		"header <a>{junk}<b>\nends <c> <d>\nmessage <a>me to={name}<b>{args}":  "{args} needs an arg line, {pseudo} a quote line",
	} {
		_, err := Parse([]byte("format mine\n"+line+"\n"), unknown)
		if err == nil || err.Error() != "line 2: "+want && err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", line, err, want)
		}
	}
}

// TestLikeNeedsTheOther wants a cousin from anywhere in a folder, and says which file has none.
func TestLikeNeedsTheOther(t *testing.T) {
	if _, err := Parse([]byte("format mine\nlike hermes\n"), unknown); err == nil || err.Error() != "the format it is like does not exist" {
		t.Errorf("%v", err)
	}
}

// unknown is a set without families.
func unknown(string) *Family { return nil }
