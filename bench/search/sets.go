package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolnorm/internal/test/questions"
)

// set has passages in one language, and questions about them.
type set struct {
	name, language string
	passages       []passage
	questions      []question
}

// passage is a part of a text, with the headings above it, as toolnorm's import would make it.
type passage struct{ heading, text string }

// question is a question with the passages that answer it.
type question struct {
	text  string
	right map[int]bool
}

// readSample returns the sample knowledge base and its questions, as a set for each language.
// Questions without an answer are left out, because every engine finds something for them. It
// returns an error if a file cannot be read.
func readSample(kb string) (sets []set, err error) {
	asked, err := questions.OfSample(kb)
	if err != nil {
		return nil, err
	}
	for _, language := range questions.Languages {
		documents, err := questions.Sample(kb, language)
		if err != nil {
			return nil, err
		}
		s := set{name: "sample, " + language, language: language}
		at := map[string]int{} // by file#index
		for _, file := range slices.Sorted(maps.Keys(documents)) {
			for i, c := range documents[file] {
				at[fmt.Sprint(file, "#", i)] = len(s.passages)
				s.passages = append(s.passages, passage{c.Heading, c.Text})
			}
		}
		for _, q := range asked {
			if q.Language != language || len(q.Right) == 0 {
				continue
			}
			right := map[int]bool{}
			for name := range q.Right {
				right[at[name]] = true
			}
			s.questions = append(s.questions, question{q.Text, right})
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// readSQuAD returns a set for each file of a folder, in the form of SQuAD. A paragraph that occurs
// twice is one passage. It returns an error if a file cannot be read, and nothing if folder is "".
func readSQuAD(folder string) (sets []set, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*-*.json"))
	if err != nil || folder == "" {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		paragraphs, places, err := questions.SQuAD(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		s := set{name: strings.Replace(name, "-", ", ", 1),
			language: name[strings.LastIndexByte(name, '-')+1:]}
		for _, p := range paragraphs {
			s.passages = append(s.passages, passage{"", p})
		}
		for _, q := range slices.Sorted(maps.Keys(places)) {
			s.questions = append(s.questions, question{q, map[int]bool{places[q]: true}})
		}
		sets = append(sets, s)
	}
	return sets, nil
}
