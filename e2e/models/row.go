package models

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"toolnorm/internal/exam"
)

// Row is everything that one model answered when its calls were read in one way, for example by
// toolnorm. Rows are kept one by one, so that a run that was stopped goes on where it was.
type Row struct {
	Setup    string   // the model and its template
	Way      string   // who read the calls, and how
	Revision string   // of toolnorm, when the row was measured
	Load     float64  // the machine's highest load average meanwhile
	Answers  []Answer // one a prompt, in the prompts' order
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// file returns the path of the file in dir that has the row. Names of setups hold blanks, slashes
// and colons, which become dashes.
func (r Row) file(dir string) string {
	return filepath.Join(dir, unsafe.ReplaceAllString(r.Setup+"_"+r.Way, "-")+".json")
}

// Save keeps the row in a folder, for the reports of later runs that measure other rows, and for
// looking at replies.
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

// Whole reports whether the row has an answer for each prompt.
func (r Row) Whole(prompts []exam.Question) bool {
	return len(prompts) > 0 && len(r.Answers) == len(prompts)
}

// Saved returns the row with the answers that Save kept in the folder dir; there may be fewer than
// prompts. It returns r unchanged if none are kept, or if they answer other prompts, since they
// would then be compared with the wrong calls. It returns an error if the file cannot be read.
func (r Row) Saved(dir string, prompts []exam.Question) (Row, error) {
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
	for i, a := range saved.Answers {
		if i >= len(prompts) || a.Prompt != prompts[i].Text {
			return r, nil
		}
	}
	return saved, nil
}
