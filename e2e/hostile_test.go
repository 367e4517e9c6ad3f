package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// nasty are pieces of text that a shell, a terminal or a page could act on. CANARY is a program
// that must not be started.
var nasty = []string{
	`'`, `"`, "`", `\`, `\\`, `\'`, `\"`, `'\''`, `"'"`, "``", `\u0027`, `\x27`, `\047`, `'"'"'`,
	`$(CANARY)`, "`CANARY`", `'; CANARY; '`, `" && CANARY && "`, `'$(CANARY)'`, `"$(CANARY)"`, `; CANARY`, `| CANARY`, `& CANARY &`, "\nCANARY\n", "\rCANARY\r", `<(CANARY)`, `>(CANARY)`, `(CANARY)`, `\'; CANARY; '`, "'\n`CANARY`\n'",
	`${IFS}`, `$HOME`, `$$`, `$'\x27'`, `$"x"`, `$[1+1]`, `$((1/0))`, `${x:=y}`, `!!`, `!x`, `!`, `^a^b`, `~`, `~root`, `*`, `?`, `[a-z]`, `{a,b}`, `{1..9}`, `#`, ` # x`, `=ls`, `%1`, `%s%n`,
	`> made`, `>>made`, `< /dev/null`, `2>&1`, `|&`, `;;`, `&&`, `||`, `-x`, `--`, `--list`, `-`, `@file`, `//`, `/*`,
	"\x00", "\x01", "\x03", "\x04", "\a", "\b", "\t", "\n", "\v", "\f", "\r", "\x1b[31m", "\x1b]0;title\a", "\x1b[200~", "\x7f", "\u0080", "\u009b", "\u00a0", "\u00ad",
	"‘", "’", "‚", "‛", "“", "”", "„", "«", "»", "′", "＇", "＂", "｀", "＼", "´", "ʼ", "\u200b", "\u200d", "\u200e", "\u202e", "\u2028", "\u2029", "\u2066", "\ufeff", "\u3164", "\ufe0f", "\ufffd", "\U000e0001", "\U0010ffff",
	"</command>", "<command>", "```", "~~~", "```\n", "<|im_end|>", "</tool_call>", "연차 규정", "東京", "é", "e\u0301", "ไทย", "हिन्दी", "עברית", "عربي", "😀", "👩\u200d💻", "🇰🇷", "₩", "¥", " ", "  ", "x",
}

// fixed are objects that are tried whatever the dice say.
var fixed = []string{
	`{}`, ` null `, `{"":""}`, `{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`, `{"a":"\u0027\u0060\u005c"}`, `{"a":-0,"b":1e999,"c":1.000,"d":12345678901234567890}`,
	`{"a":[[[[[{"b":[null,true,false]}]]]]]}`, "{\n\t\"a\" :\r\n 1 }", `{"'":1,"\"":2,"\\":3,"$(CANARY)":4,"` + "`CANARY`" + `":5}`, `{"query":"it's a \"test\" \\ of $(CANARY)"}`,
	`{"a":"'"}`, `{"a":"\\"}`, `{"a":"\\'"}`, `{"a":"\\\\'; CANARY; '"}`, `{"a":"x'\nCANARY\n'"}`, `{"a":"!CANARY !! !$"}`,
}

// hostile are n objects as JSON: the fixed ones, and ones that are made of nasty pieces. The same
// seed gives the same.
func hostile(n int, seed uint64, canary string) []json.RawMessage {
	r := rand.New(rand.NewPCG(seed, 0))
	all := make([]json.RawMessage, 0, n)
	for _, text := range fixed {
		all = append(all, json.RawMessage(strings.ReplaceAll(text, "CANARY", canary)))
	}
	for len(all) < n {
		all = append(all, json.RawMessage(object(r, canary, 0)))
	}
	return all[:n]
}

// object is an object with up to four members.
func object(r *rand.Rand, canary string, depth int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range r.IntN(4) + 1 {
		if i > 0 {
			b.WriteString([]string{",", " , ", ",\n"}[r.IntN(3)])
		}
		fmt.Fprintf(&b, "%s:%s", quoted(r, fmt.Sprint(i)+pieces(r, canary, 2)), member(r, canary, depth+1))
	}
	b.WriteByte('}')
	return b.String()
}

// member is any value.
func member(r *rand.Rand, canary string, depth int) string {
	switch k := r.IntN(12); {
	case k == 0:
		return []string{"0", "-1.50", "1e-7", "true", "null"}[r.IntN(5)]
	case k == 1 && depth < 4:
		return object(r, canary, depth)
	case k == 2 && depth < 4:
		return "[" + member(r, canary, depth+1) + ", " + member(r, canary, depth+1) + "]"
	case k == 3:
		return quoted(r, strings.Repeat(pieces(r, canary, 8), 50))
	}
	return quoted(r, pieces(r, canary, 8))
}

// pieces is a text of up to that many pieces.
func pieces(r *rand.Rand, canary string, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(strings.ReplaceAll(nasty[r.IntN(len(nasty))], "CANARY", canary))
	}
	return b.String()
}

// quoted is a JSON string; characters that may be escaped sometimes are.
func quoted(r *rand.Rand, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\' || c < ' ' || c <= 0xFFFF && r.IntN(8) == 0:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
