package runner

import (
	"encoding/json"
	"testing"

	"toolnorm/internal/test/must"
)

func TestCommandsAreReadBack(t *testing.T) {
	for _, p := range []Program{"", "python tools/runner.py"} {
		for name, args := range map[string]string{"f": `{}`, "-dash": `{"a":1.50}`, "a.b": `{"서울":"it's \"<x>\"\n","n":null}`} {
			for _, write := range []func(string, json.RawMessage) (string, error){p.Command, p.Base64} {
				line := must.Have(write(name, json.RawMessage(args)))(t)
				gotName, gotArgs, ok := p.Read(line)
				if again, err := write(gotName, gotArgs); !ok || gotName != name || err != nil || again != line {
					t.Errorf("%s reads %q %s %t", line, gotName, gotArgs, ok)
				}
			}
		}
	}
}

func TestFetchesAreReadBack(t *testing.T) {
	for _, p := range []Program{"", "python tools/runner.py"} {
		line, err := p.Fetch("k3J_9")
		if id, ok := p.ReadFetch(line); err != nil || id != "k3J_9" || !ok {
			t.Errorf("%q reads %q %t, %v", line, id, ok, err)
		}
	}
	for _, line := range []string{"", "toolrun --call", "toolrun --call ", "toolrun --call a b", "toolrun --call a; ls", "toolrun  --call a", "toolrun f '{}'", "toolrun --call a\n"} {
		if id, ok := Toolrun.ReadFetch(line); ok {
			t.Errorf("%q reads %q", line, id)
		}
	}
}

func TestOnlyWhatWasWrittenIsRead(t *testing.T) {
	for _, line := range []string{
		"", "toolrun", "toolrun f", "toolrun f '{}' ", "toolrun f '{}'; ls", `toolrun f "{}"`, "toolrun  f '{}'", "toolrun f '{} '", "toolrun f ''{}''", "toolrun --call abc",
		"toolrun --b64 e30", "toolrun --b64 e30= f", "toolrun --list", "ls", "toolrun f '[]'",
	} {
		if name, args, ok := Toolrun.Read(line); ok {
			t.Errorf("%q reads %s %s", line, name, args)
		}
	}
}
