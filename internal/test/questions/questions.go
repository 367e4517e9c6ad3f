// Package questions reads the questions and passages with which searches in knowledge bases are
// measured: the sample with its own questions, and files in the format of SQuAD.
package questions

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolnorm/tools/kb/kbstore"
)

// Languages are the languages of the sample.
var Languages = []string{"ja", "ko", "en"}

// Question is a question about the sample, with the passages that answer it.
type Question struct {
	Language, Kind, Text string
	Right                map[string]bool // by file#index
}

// OfSample returns the questions about the sample. kb is the path of the folder tools/kb. It fails
// if the file of questions cannot be read or names an unknown section.
func OfSample(kb string) (all []Question, err error) {
	text, err := os.ReadFile(filepath.Join(kb, "retrieval", "testdata", "questions.txt"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		part := strings.SplitN(line, " ", 4)
		document, section, _ := strings.Cut(part[2], ".")
		q := Question{part[0], part[1], part[3], map[string]bool{}}
		for i := 1; i <= 5; i++ {
			if section == "*" || section == fmt.Sprint(i) {
				q.Right[fmt.Sprintf("%s.md#%d", document, i-1)] = true
			}
		}
		if len(q.Right) == 0 && q.Kind != "none" {
			return nil, fmt.Errorf("no such section: %s", line)
		}
		all = append(all, q)
	}
	return all, nil
}

// Sample returns the passages of the sample in a language, by the names of their files. kb is the
// path of the folder tools/kb. It fails if there is no file in that language or one cannot be read.
func Sample(kb, language string) (documents map[string][]kbstore.Chunk, err error) {
	files, err := filepath.Glob(filepath.Join(kb, "sample", language, "*.md"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no sample in %s: %w", language, err)
	}
	documents = map[string][]kbstore.Chunk{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		parts := strings.Split(string(text), "\n## ")
		title, _, _ := strings.Cut(strings.TrimPrefix(parts[0], "# "), "\n")
		name := filepath.Base(file)
		for _, part := range parts[1:] {
			heading, body, _ := strings.Cut(part, "\n")
			documents[name] = append(documents[name],
				kbstore.Chunk{Heading: title + " > " + heading, Text: strings.TrimSpace(body)})
		}
	}
	return documents, nil
}

// SQuAD returns the distinct paragraphs of a file in the format of SQuAD, and for each question the
// index of its paragraph. JSQuAD, KorQuAD and XQuAD have the same format. It fails if the text is
// not JSON.
func SQuAD(text []byte) (paragraphs []string, questions map[string]int, err error) {
	var file struct {
		Data []struct {
			Paragraphs []struct {
				Context string
				QAs     []struct{ Question string }
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, nil, err
	}
	at, questions := map[string]int{}, map[string]int{}
	for _, d := range file.Data {
		for _, p := range d.Paragraphs {
			i, there := at[p.Context]
			if !there {
				i = len(paragraphs)
				at[p.Context], paragraphs = i, append(paragraphs, p.Context)
			}
			for _, qa := range p.QAs {
				questions[qa.Question] = i
			}
		}
	}
	return paragraphs, questions, nil
}
