package kept

import (
	"strconv"
	"strings"
	"testing"
)

func TestTheCacheKeepsWhatIsUsedAndStaysSmall(t *testing.T) {
	var c Cache[string]
	made := map[string]int{}
	get := func(text string) {
		c.Get([]byte(text), func(text string) string { made[text[:min(len(text), 8)]]++; return text })
	}
	for i := range maxTexts + 300 {
		get("first")
		get(strconv.Itoa(i))
	}
	if made["first"] != 1 || c.order.Len() != maxTexts || len(c.byText) != maxTexts {
		t.Errorf("the text that is always used was made %d times; %d and %d entries, want %d", made["first"], c.order.Len(), len(c.byText), maxTexts)
	}
	for i := range 40 {
		get(strconv.Itoa(i) + strings.Repeat("x", 900<<10))
	}
	if c.bytes > maxBytes {
		t.Errorf("%d bytes kept", c.bytes)
	}
	get("long" + strings.Repeat("x", longest))
	get("long" + strings.Repeat("x", longest))
	if made["longxxxx"] != 2 {
		t.Error("a text that is too long was kept")
	}
}
