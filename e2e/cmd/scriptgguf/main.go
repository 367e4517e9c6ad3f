// Scriptgguf writes a scripted model: a GGUF file that makes a model server emit the texts of a
// folder of script files, and beside it, as JSON, the list of tokens in which each text comes.
//
//	scriptgguf -template chat.jinja SCRIPTS OUT.gguf
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"toolnorm/e2e/gguf"
	"toolnorm/e2e/script"
)

func main() {
	template := flag.String("template", "", "a jinja chat template to put into the file")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: scriptgguf [-template FILE] SCRIPTS OUT.gguf")
		os.Exit(2)
	}
	if err := run(*template, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "scriptgguf:", err)
		os.Exit(1)
	}
}

func run(template, folder, out string) error {
	scripts, err := script.Load(os.DirFS(folder))
	if err != nil {
		return err
	}
	var jinja []byte
	if template != "" {
		if jinja, err = os.ReadFile(template); err != nil {
			return err
		}
	}
	m, err := gguf.New(script.Models(scripts), string(jinja))
	if err != nil {
		return err
	}
	if err := m.WriteFile(out); err != nil {
		return err
	}
	pieces := map[string][][]byte{}
	for _, s := range scripts {
		pieces[s.Name] = nil
		for _, p := range m.Pieces(s.Name) {
			pieces[s.Name] = append(pieces[s.Name], []byte(p))
		}
	}
	// bytes as base64: pieces cut characters in two
	list, err := json.MarshalIndent(pieces, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(out+".pieces.json", list, 0o644)
}
