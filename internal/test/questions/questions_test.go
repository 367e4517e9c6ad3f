package questions

import "testing"

func TestSQuADIsRead(t *testing.T) {
	text := `{"version":"1","data":[{"title":"t","paragraphs":[
		{"context":"東京は首都。","qas":[{"id":"1","question":"首都は？","answers":[]}]},
		{"context":"大阪は西。","qas":[{"question":"西は？"},{"question":"大阪は？"}]},
		{"context":"東京は首都。","qas":[{"question":"東京は？"}]}]}]}`
	paragraphs, questions, err := SQuAD([]byte(text))
	if err != nil || len(paragraphs) != 2 || len(questions) != 4 || questions["東京は？"] != 0 || questions["大阪は？"] != 1 {
		t.Errorf("got %q, %v, %v", paragraphs, questions, err)
	}
	if _, _, err := SQuAD([]byte("{")); err == nil {
		t.Error("half a file was read")
	}
}
