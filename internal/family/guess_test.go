package family

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// templateOf is a template that writes turns between marks, and calls as a family prints them.
func templateOf(f *adapters.Format) derive.Template {
	return derive.Template{Render: func(messages []chat.Message, tools []chat.Tool) (string, error) {
		var b strings.Builder
		for _, t := range tools {
			b.WriteString(t.Name + "\n")
		}
		for _, m := range messages {
			b.WriteString("<|turn|>" + string(m.Role) + "\n")
			if m.Reasoning != "" {
				b.WriteString("<think>\n" + m.Reasoning + "\n</think>\n\n")
			}
			b.WriteString(m.Content)
			b.Write(f.Append(nil, m.Calls...))
			b.WriteString("<|over|>\n")
		}
		return b.String() + "<|turn|>assistant\n", nil
	}}
}

// TestGuessFindsFamiliesAgain guesses each family from what it prints, with no family known.
// Harmony's messages and Python's quotes in JSON are beyond it.
func TestGuessFindsFamiliesAgain(t *testing.T) {
	sure := strings.Fields("hermes qwen3-coder glm4 mistral kimi-k2 deepseek-v3 deepseek-v3.1 deepseek-dsml minimax-m2 gemma4 functiongemma lfm2 llama3 llama4 jamba granite3 command-r7b solar-open seed-oss")
	right := 0
	for _, f := range adapters.All() {
		p, err := Guess("lab/Mine:7b", new(adapters.Set), templateOf(f))
		switch {
		case err == nil && len(p.Problems) == 0:
			right++
		case slices.Contains(sure, f.Name) && err != nil:
			t.Errorf("%s: %v", f.Name, err)
		case slices.Contains(sure, f.Name):
			t.Errorf("%s: %v\n%s", f.Name, p.Problems[0], p.File)
		}
	}
	if all := len(adapters.All()); right*10 < all*8 {
		t.Errorf("%d of %d families are guessed, want 8 of 10", right, all)
	}
}

func TestGuessWritesAFileThatPassesItsTest(t *testing.T) {
	p, err := Guess("lab/Mine:7b", new(adapters.Set), templateOf(adapters.Named("glm4")))
	must.OK(t, err)
	want := "# Proposed from the template of lab/Mine:7b; to be compared with what the model really writes.\n" +
		`# A result, up to the next turn: <|over|>\n<|turn|>tool\n…<|over|>\n<|turn|>assistant\n
format  mine
models  mine*
think   <think>\n{reasoning}\n</think>\n\n
call    \n<tool_call>{name}\n{args}\n</tool_call>
arg     <arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>
drop    <|over|>
-- one call: raw --
`
	if !strings.HasPrefix(p.File, want) {
		t.Errorf("proposed\n%s\nwant\n%s", p.File, want)
	}
	f, err := adapters.Builtin().Parse([]byte(p.File))
	must.OK(t, err)
	tools, err := golden.Tools()
	must.OK(t, err)
	if n, problems, err := Check(f, tools); n != 2 || len(problems) > 0 || err != nil {
		t.Errorf("%d cases, %v, %v", n, problems, err)
	}
}

func TestGuessKnowsWhatItHasSeenBefore(t *testing.T) {
	p, err := Guess("new-model:1b", adapters.Builtin(), templateOf(adapters.Named("harmony")))
	if err != nil || p.Known != "harmony" || !strings.Contains(p.File, "models  new-model*\nlike    harmony\n-- one call: raw --\n") {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestGuessSaysWhatItCannotDo(t *testing.T) {
	say := func(text string) derive.Template {
		return derive.Template{Render: func(m []chat.Message, _ []chat.Tool) (string, error) {
			out := ""
			for _, m := range m {
				out += m.Content + "\n"
				for range m.Calls {
					out += text
				}
			}
			return out, nil
		}}
	}
	for text, want := range map[string]string{
		"":                                    "does not print calls",
		"map[content:wombat path:quokka.txt]": "cannot be told",
		"write_file quokka.txt wombat":        "cannot say",
	} {
		if p, err := Guess("m", adapters.Builtin(), say(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want an error with %q", text, p, err, want)
		}
	}
	broken := errors.New("no such model")
	if _, err := Guess("m", adapters.Builtin(), derive.Template{Render: func([]chat.Message, []chat.Tool) (string, error) { return "", broken }}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
