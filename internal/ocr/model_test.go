package ocr

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ollama is a server that answers /api/generate with a text, and notes what it was asked.
func ollama(t *testing.T, status int, answer func(asked map[string]any) string) (url string, requests *[]map[string]any) {
	t.Helper()
	requests = new([]map[string]any)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/api/generate" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		*requests = append(*requests, asked)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer(asked))
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// says is Ollama's answer with a text of the model's.
func says(text string) func(map[string]any) string {
	body, _ := json.Marshal(map[string]string{"response": text})
	return func(map[string]any) string { return string(body) }
}

func TestAModelIsAskedYesOrNo(t *testing.T) {
	url, requests := ollama(t, 200, says("[true, false]"))
	for _, address := range []string{url, url + "/", url + "/api/generate"} {
		n := Normalizer{Ask: Ollama(http.DefaultClient, address, "")}
		res, err := n.Normalize(context.Background(), "メ-ルをヘルプデスク-担当へ。\n2. カメラ-レンズ")
		if err != nil || res.Text != "メールをヘルプデスクー担当へ。\n2. カメラ-レンズ" || res.Ambiguous != 2 {
			t.Errorf("%s: %+v, %v", address, res, err)
		}
	}
	asked := (*requests)[0]
	if asked["model"] != "pakachan/elyza-llama3-8b:latest" || asked["stream"] != false || asked["options"].(map[string]any)["temperature"] != 0.0 {
		t.Errorf("%+v", asked)
	}
	if format, _ := json.Marshal(asked["format"]); string(format) != `{"items":{"type":"boolean"},"maxItems":2,"minItems":2,"type":"array"}` {
		t.Errorf("%s", format)
	}
	prompt := asked["prompt"].(string)
	if !strings.HasSuffix(prompt, "1. メ-ルをヘルプデスク【-】担当へ。 2. カメラ-レンズ\n2. ルをヘルプデスク-担当へ。 2. カメラ【-】レンズ\n") || len(*requests) != 3 {
		t.Errorf("%d requests, the first one says\n%s", len(*requests), prompt)
	}
}

func TestManyHyphensAreAskedAboutInParts(t *testing.T) {
	url, requests := ollama(t, 200, func(asked map[string]any) string {
		n := int(asked["format"].(map[string]any)["minItems"].(float64))
		return says("[" + strings.TrimSuffix(strings.Repeat("true,", n), ",") + "]")(nil)
	})
	n := Normalizer{Ask: Ollama(http.DefaultClient, url, "m")}
	res, err := n.Normalize(context.Background(), strings.Repeat("カメラ-レンズ、", 50))
	if err != nil || strings.Count(res.Text, "カメラーレンズ") != 50 || len(*requests) != 3 || (*requests)[0]["model"] != "m" {
		t.Errorf("%+v, %v, %d requests", res, err, len(*requests))
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		answer func(map[string]any) string
		want   error // nil: the hyphen stays, with a warning
		asked  int
	}{
		"the whole text":       {200, says("カメラーレンズです。"), nil, 2},
		"too many":             {200, says("[true,true]"), nil, 2},
		"numbers":              {200, says("[1]"), nil, 2},
		"text behind":          {200, says("[true] はい"), nil, 2},
		"an object":            {200, says(`{"answers":[true]}`), nil, 2},
		"no JSON":              {200, func(map[string]any) string { return "<html>" }, nil, 2},
		"without end":          {200, func(map[string]any) string { return `{"response":"` + strings.Repeat("x", 2*longAnswer) }, nil, 2},
		"no such model":        {404, says(""), ErrUnavailable, 1},
		"broken":               {500, says("[true]"), ErrUnavailable, 1},
		"a redirect to itself": {302, says("[true]"), ErrUnavailable, 1},
	} {
		url, requests := ollama(t, row.status, row.answer)
		res, err := (&Normalizer{Ask: Ollama(http.DefaultClient, url, "")}).Normalize(context.Background(), "カメラ-レンズ")
		if !errors.Is(err, row.want) || len(*requests) != row.asked || err == nil && (res.Text != "カメラ-レンズ" || len(res.Warnings) != 1) {
			t.Errorf("%s: %+v, %v, asked %d times", name, res, err, len(*requests))
		}
	}
	if _, err := (&Normalizer{Ask: Ollama(http.DefaultClient, "http://127.0.0.1:1", "")}).Normalize(context.Background(), "カメラ-レンズ"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("nobody listens: %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (&Normalizer{Ask: Ollama(http.DefaultClient, "http://127.0.0.1:1", ""), Without: Keep}).Normalize(gone, "カメラ-レンズ"); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller is gone: %v", err)
	}
}
