package retrieval

import (
	"encoding/json"
	"testing"
)

// squad is a file in the form of SQuAD, which JSQuAD, KorQuAD and XQuAD have as well.
type squad struct {
	Data []struct {
		Paragraphs []struct {
			Context string
			QAs     []struct{ Question string }
		}
	}
}

// read takes the distinct paragraphs out of a file, and of each question the place of its own.
func (s *squad) read(text []byte) (paragraphs []string, questions map[string]int, err error) {
	if err := json.Unmarshal(text, s); err != nil {
		return nil, nil, err
	}
	at, questions := map[string]int{}, map[string]int{}
	for _, d := range s.Data {
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

func TestSQuADIsRead(t *testing.T) {
	text := `{"version":"1","data":[{"title":"t","paragraphs":[
		{"context":"東京は首都。","qas":[{"id":"1","question":"首都は？","answers":[]}]},
		{"context":"大阪は西。","qas":[{"question":"西は？"},{"question":"大阪は？"}]},
		{"context":"東京は首都。","qas":[{"question":"東京は？"}]}]}]}`
	paragraphs, questions, err := new(squad).read([]byte(text))
	if err != nil || len(paragraphs) != 2 || len(questions) != 4 || questions["東京は？"] != 0 || questions["大阪は？"] != 1 {
		t.Errorf("got %q, %v, %v", paragraphs, questions, err)
	}
	if _, _, err := new(squad).read([]byte("{")); err == nil {
		t.Error("half a file was read")
	}
}
