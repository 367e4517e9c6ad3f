package e2e

import (
	"errors"
	"net/http"
	"testing"

	"toolnorm/internal/ocr"
)

// TestOllamaAnswersYesOrNo holds that the real Ollama takes the schema by which a model is asked
// about hyphens: a model that knows no Japanese, and would write anything else, answers with as
// many truth values as there are hyphens.
func TestOllamaAnswersYesOrNo(t *testing.T) {
	l := open(t)
	s := l.ownOllama(t, nil)
	ask := ocr.Ollama(http.DefaultClient, s.base, plain.name)
	text := []rune("カメラ-レンズとスキル-マップ、ヘルプデスク-担当、ア-イ")
	var offsets []int
	for i, r := range text {
		if r != '-' {
			continue
		}
		offsets = append(offsets, i)
		yes, err := ask(t.Context(), text, offsets)
		if err != nil || len(yes) != len(offsets) {
			t.Errorf("%d hyphens: %v, %v", len(offsets), yes, err)
		}
	}
	n := ocr.Normalizer{Ask: ask}
	if res, err := n.Normalize(t.Context(), "マネ-ジャ-のカメラ-レンズ"); err != nil || res.Ambiguous != 1 || len(res.Warnings) > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := (&ocr.Normalizer{Ask: ocr.Ollama(http.DefaultClient, s.base, "no-such-model")}).Normalize(t.Context(), "カメラ-レンズ"); !errors.Is(err, ocr.ErrUnavailable) {
		t.Errorf("a model that is not there: %v", err)
	}
}
