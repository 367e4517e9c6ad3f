package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// set is passages in one language, and questions over them.
type set struct {
	name, language string
	passages       []passage
	questions      []question
}

// passage is a passage with the headings above it, as an import makes it.
type passage struct{ heading, text string }

// question is a question with the passages that answer it.
type question struct {
	text  string
	right map[int]bool
}

// readSample reads the sample knowledge base and its questions, a set for each language. Questions
// without an answer are left out: every engine shows something.
func readSample(kb string) (sets []set, err error) {
	asked, err := os.ReadFile(filepath.Join(kb, "retrieval", "testdata", "questions.txt"))
	if err != nil {
		return nil, err
	}
	for _, language := range []string{"ja", "ko", "en"} {
		s := set{name: "sample, " + language, language: language}
		files, _ := filepath.Glob(filepath.Join(kb, "sample", language, "*.md"))
		at := map[string]int{} // by document.section
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			parts := strings.Split(string(text), "\n## ")
			title, _, _ := strings.Cut(strings.TrimPrefix(parts[0], "# "), "\n")
			name := strings.TrimSuffix(filepath.Base(file), ".md")
			for i, part := range parts[1:] {
				heading, body, _ := strings.Cut(part, "\n")
				at[fmt.Sprint(name, ".", i+1)] = len(s.passages)
				s.passages = append(s.passages,
					passage{title + " > " + heading, strings.TrimSpace(body)})
			}
		}
		for line := range strings.Lines(string(asked)) {
			part := strings.SplitN(strings.TrimSpace(line), " ", 4)
			if len(part) < 4 || part[0] != language {
				continue
			}
			document, section, _ := strings.Cut(part[2], ".")
			q := question{part[3], map[int]bool{}}
			for where, i := range at {
				if where == part[2] || section == "*" && strings.HasPrefix(where, document+".") {
					q.right[i] = true
				}
			}
			if len(q.right) > 0 {
				s.questions = append(s.questions, q)
			}
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// readSQuAD reads the files of a folder. A paragraph that occurs twice is one passage.
func readSQuAD(folder string) (sets []set, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*-*.json"))
	if err != nil || folder == "" {
		return nil, err
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var is struct {
			Data []struct {
				Paragraphs []struct {
					Context string
					QAs     []struct{ Question string }
				}
			}
		}
		if err := json.Unmarshal(text, &is); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		s := set{name: strings.Replace(name, "-", ", ", 1),
			language: name[strings.LastIndexByte(name, '-')+1:]}
		at := map[string]int{}
		for _, d := range is.Data {
			for _, p := range d.Paragraphs {
				if _, there := at[p.Context]; !there {
					at[p.Context] = len(s.passages)
					s.passages = append(s.passages, passage{"", p.Context})
				}
				for _, qa := range p.QAs {
					s.questions = append(s.questions,
						question{qa.Question, map[int]bool{at[p.Context]: true}})
				}
			}
		}
		sets = append(sets, s)
	}
	return sets, nil
}
