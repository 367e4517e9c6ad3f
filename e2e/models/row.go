package models

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Row is everything that one model answered in one way.
type Row struct {
	Setup    string   // the model and its template
	Way      string   // who read the calls, and how
	Revision string   // of toolnorm, when the row was measured
	Load     float64  // the machine's load average when the row was done
	Answers  []Answer // one a prompt, in the prompts' order
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func (r Row) file(dir string) string {
	return filepath.Join(dir, unsafe.ReplaceAllString(r.Setup+"_"+r.Way, "-")+".json")
}

// Save keeps the row in a folder, for the reports of later runs that measure other rows, and for looking at replies.
func (r Row) Save(dir string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(r.file(dir), b, 0o644)
}

// Saved is the row with the answers that Save kept. A row that is not there has none; so has one of other prompts.
func (r Row) Saved(dir string, prompts []Prompt) (Row, error) {
	b, err := os.ReadFile(r.file(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	saved := r
	if err := json.Unmarshal(b, &saved); err != nil {
		return r, err
	}
	if len(saved.Answers) != len(prompts) {
		return r, nil
	}
	for i, p := range prompts {
		if saved.Answers[i].Prompt != p.Text {
			return r, nil
		}
	}
	return saved, nil
}
