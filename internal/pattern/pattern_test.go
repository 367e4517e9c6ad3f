package pattern

import "testing"

func TestTheLongestPatternCounts(t *testing.T) {
	patterns := map[string]string{"*": "any", "qwen*": "qwen", "qwen3-coder:30b": "exact", "hf.co/*/GLM*": "glm", "*:cloud": "cloud", "a*a": "aa"}
	for name, want := range map[string]string{
		"llama3": "any", "qwen2.5": "qwen", "qwen3-coder:30b": "exact", "hf.co/x/y/GLM-4.5:Q4": "glm", "gpt-oss:cloud": "cloud", "a": "any", "aa": "aa",
	} {
		if got, _ := Find(patterns, name); got != want {
			t.Errorf("Find(%q) = %q, want %q", name, got, want)
		}
	}
	if got, ok := Find(map[string]string{"x*": "y"}, "z"); ok {
		t.Errorf("Find without a match = %q", got)
	}
}
