package chat

import (
	"strings"
	"testing"
)

func TestStringsStayWhatTheyWere(t *testing.T) {
	var s Strings
	buf := make([]byte, 0, 8)
	var got, want []string
	for i := range 5000 {
		buf = append(buf[:0], byte('a'+i%26), byte('0'+i%10), byte('A'+i%26))
		got, want = append(got, s.Of(buf)), append(want, string(buf))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("string %d is %q, want %q", i, got[i], want[i])
		}
	}
	long := strings.Repeat("x", blockSize)
	if s.Of([]byte(long)) != long || s.Of(nil) != "" {
		t.Error("a long or an empty string came out wrong")
	}
}

func TestStringsAllocateOnceABlock(t *testing.T) {
	var s Strings
	b := []byte("four")
	if n := testing.AllocsPerRun(4*blockSize, func() { s.Of(b) }); n > 0 {
		t.Errorf("%v allocations a string, want less than one in a hundred", n)
	}
}
