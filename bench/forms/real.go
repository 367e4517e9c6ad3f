package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

//go:embed data/apart.jsonl.gz
var apart []byte

// longest is the maximum length in bytes of the answers that a real model is asked for. The
// measurement is about whether answers fit, not about how much a model writes.
const longest = 300

// askReal asks a real model behind the toolnorm at an address for answers, one schema after the
// other. The requests use the APIs in turn, streamed and whole in turn. Every third offers a tool,
// so that no server constrains the answer to its schema. The prompt says in words what the answer
// should contain. askReal returns an error if the schemas cannot be read or the page cannot be
// written.
func askReal(s settings) error {
	base, err := url.Parse(s.ask)
	if err != nil {
		return err
	}
	all, err := readCorpus(apart, 1)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e *entry) bool {
		return len(e.Answers[0]) > longest || len(e.Answers[0]) < 10
	})
	if s.most > 0 && s.most < len(all) {
		some := make([]*entry, s.most)
		for i := range some {
			some[i] = all[i*len(all)/s.most]
		}
		all = some
	}
	rows := map[string]*[5]int{}
	failed := ""
	for i, one := range all {
		a := asked{entry: one, kind: kind{name: "the schema alone"}, api: apis[i%len(apis)],
			stream: i/len(apis)%2 == 1}
		if i%3 == 2 && a.api.tool != "" {
			a.kind = kind{name: "a tool offered", tools: true}
		}
		began := time.Now()
		g := a.real(base, s.model)
		o, why := a.judge(g)
		fmt.Printf("%d of %d, %.1f s: %s%s, %s: %s %s\n", i+1, len(all),
			time.Since(began).Seconds(), a.row(), one.Source, one.Name,
			[]string{"fits", "another", "cut", "an error", "DOES NOT FIT"}[o], why)
		if o != fits {
			failed += fmt.Sprintf("- %s, %s, %s: %s %.300s\n", a.kind.name,
				strings.TrimSpace(a.api.name), one.Name, []string{"", "another", "cut", "error",
					"does not fit:"}[o], why)
		}
		if rows[a.kind.name] == nil {
			rows[a.kind.name] = new([5]int)
		}
		rows[a.kind.name][o]++
	}
	page := realHead(len(all))
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		n := r[0] + r[1] + r[2] + r[3] + r[4]
		page += fmt.Sprintf("| %s | %d | %d | %d | %d | %d |\n", name, n, r[fits], r[short],
			r[refused], r[unfit])
	}
	if failed != "" {
		page += "\n" + failed
	}
	fmt.Print(page)
	return os.WriteFile(cmp.Or(s.page, os.DevNull), []byte(page), 0o644)
}

// realHead returns the beginning of the section of the page that shows how a real model answers.
func realHead(schemas int) string {
	return fmt.Sprintf(`## Answers in a form

%d schemas of real SDKs that nothing here was made with (bench/forms/data/SOURCES.md says from where), one request each: by six APIs in turn
(chat completions, responses, messages, /api/chat, /api/generate, and that with raw), streamed and whole in turn. With a tool offered no
server holds the answer to its schema. The prompt says in words what the answer should hold; at most %d tokens, temperature 0. Each answer
is checked by a validator that toolnorm does not use.

| asked with | asked | fit | cut | an error | do not fit |
|---|--:|--:|--:|--:|--:|
`, schemas, realTokens)
}

// realTokens is the maximum length of an answer of a real model, in tokens.
const realTokens = 400

// cold has for each API the members of a request that make the model write the same each time, and
// limit its answer.
var cold = map[string]string{
	"/v1/chat/completions": `,"temperature":0,"max_tokens":%d`,
	"/v1/responses":        `,"temperature":0,"max_output_tokens":%d`,
	"/v1/messages":         `,"temperature":0,"max_tokens":%d`,
	"/api/chat":            `,"options":{"temperature":0,"num_predict":%d}`,
	"/api/generate":        `,"options":{"temperature":0,"num_predict":%d}`,
}

// real sends the request to a running toolnorm at base, and returns the reply.
func (a asked) real(base *url.URL, model string) (g given) {
	var meant any
	json.Unmarshal(a.Answers[0], &meant)
	body := fmt.Sprintf(a.api.body, quote("Fill in the form "+a.Name+" as JSON. It says:\n"+
		strings.Join(describe("", meant), "\n")+"\n"), a.Schema)
	body = strings.Replace(body, `"qwen2.5:forms"`, quote(model), 1)
	body = strings.Replace(body, `"max_tokens":4096,`, "", 1)
	if a.kind.tools {
		body += a.api.tool
	}
	body += fmt.Sprintf(cold[a.api.path]+`,"stream":%v}`, realTokens, a.stream)
	resp, err := (&http.Client{Timeout: 10 * time.Minute}).Post(base.JoinPath(a.api.path).String(),
		"application/json", strings.NewReader(body))
	if err != nil {
		return given{err: err.Error()}
	}
	defer resp.Body.Close()
	g.status = resp.StatusCode
	g.read(a.api, resp.Body)
	return g
}

// describe returns lines such as "- mayor, age: 44", one for each simple value inside v. The
// parameter path is the path of v.
func describe(path string, v any) (lines []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			lines = append(lines, describe(strings.TrimPrefix(path+", "+name, ", "), v[name])...)
		}
	case []any:
		for i, one := range v {
			lines = append(lines, describe(fmt.Sprintf("%s, number %d", path, i+1), one)...)
		}
	default:
		return []string{fmt.Sprintf("- %s: %v", path, v)}
	}
	if len(lines) == 0 {
		return []string{"- " + path + ": empty"}
	}
	return lines
}
