package retrieval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
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

// TestPublicSets measures files in the form of SQuAD, of the folder TOOLNORM_EVAL_SQUAD. They are never needed and never part of
// the repository: KorQuAD may not even be changed.
func TestPublicSets(t *testing.T) {
	folder := os.Getenv("TOOLNORM_EVAL_SQUAD")
	if folder == "" {
		t.Skip("TOOLNORM_EVAL_SQUAD names no folder with JSQuAD, KorQuAD or XQuAD: public sets are not measured")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no .json in %s", folder)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		paragraphs, questions, err := new(squad).read(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		measure(t, filepath.Base(file), paragraphs, questions)
	}
}

// measure asks the questions of a set, each of which has one right passage.
func measure(t *testing.T, name string, paragraphs []string, questions map[string]int) {
	store := openStore(t)
	documents := map[string][]kbstore.Chunk{}
	for i, p := range paragraphs {
		documents[fmt.Sprint(i)] = []kbstore.Chunk{{Text: p}}
	}
	base := fill(t, store, documents)
	names := sources(t, store, base)
	local := &Local{Store: store}
	var took []time.Duration
	sums := map[string][3]float64{}
	for text, right := range questions {
		a := asked{question: question{text: text, right: map[string]bool{fmt.Sprintf("%d#0", right): true}}, names: names, stages: map[string][]*passage{}}
		began := time.Now()
		if _, err := local.Search(t.Context(), Query{Text: text, Base: base.ID, Max: 10, Principal: auth.Local()}); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
		runStages(t, local, base.ID, &a)
		for _, stage := range []string{"3A sparse", "5 bm25_rerank"} {
			s := sums[stage]
			switch r := a.rank(stage); r {
			case 0:
			case 1:
				s[0]++
				fallthrough
			default:
				s[1]++
				s[2] += 1 / float64(r)
			}
			sums[stage] = s
		}
	}
	slices.Sort(took)
	n := float64(len(questions))
	for stage, s := range sums {
		t.Logf("%s: %d paragraphs, %d questions, %s: R@1 %.3f, R@10 %.3f, MRR@10 %.3f", name, len(paragraphs), len(questions), stage, s[0]/n, s[1]/n, s[2]/n)
	}
	t.Logf("%s: p50 %v, p95 %v", name, took[len(took)/2], took[len(took)*95/100])
}
