package exchange

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// TestABodyIsReadWhateverItsHeaderPromises has promises that are kept, too small, far too large,
// and none.
func TestABodyIsReadWhateverItsHeaderPromises(t *testing.T) {
	for _, size := range []int{0, 1, mostPromised - 1, mostPromised, mostPromised + 1, 4 * mostPromised, 9*mostPromised + 7, 80*mostPromised + 7} {
		want := []byte("{" + strings.Repeat("0123456789", size/10+1))[:size]
		for _, promised := range []int{0, 1, size, size + 1, 2 * size, 20 << 20} {
			for name, r := range map[string]io.Reader{"whole": bytes.NewReader(want), "halves": iotest.HalfReader(bytes.NewReader(want))} {
				got, err := readBody(r, promised)
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: %d bytes of %d, %d promised: %v", name, len(got), size, promised, err)
				}
				most := max(8*size, mostPromised) + 8<<10
				if promised == size {
					most = size + bytes.MinRead + 8<<10
				}
				if cap(got) > most {
					t.Errorf("%s: %d bytes, %d promised, took %d bytes of memory, want at most %d", name, size, promised, cap(got), most)
				}
			}
		}
		broken := io.MultiReader(bytes.NewReader(want), iotest.ErrReader(io.ErrUnexpectedEOF))
		if _, err := readBody(broken, 10*size); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes and an error: %v", size, err)
		}
	}
}

// What stands in front of an object is left out or named, also in a body that comes in pieces.
func TestWhatABodyBeginsWith(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 9*mostPromised) + `"}`
	for name, row := range map[string]struct{ encoding, body, want, say string }{
		"nothing":               {"", " {}", " {}", ""},
		"a mark":                {"", "\uFEFF{}", "{}", ""},
		"a mark and a long one": {"", "\uFEFF" + long, long, ""},
		"gzip":                  {"gzip", "\x1f\x8b\x08", "", "Content-Encoding: gzip"},
		"zstd in name only":     {"zstd", "{}", "{}", ""},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(row.body))
		r.Header.Set("Content-Encoding", row.encoding)
		got, err := (&Runner{MaxBody: 1 << 20}).Body(httptest.NewRecorder(), r)
		if string(got) != row.want || (err == nil) != (row.say == "") || err != nil && !strings.Contains(err.Error(), row.say) {
			t.Errorf("%s: %.40q, %v", name, got, err)
		}
	}
}

// A body that begins as no object is read to its end, since many clients read no answer before
// they have sent all, and not kept.
func TestABodyThatIsNoObjectIsNotKept(t *testing.T) {
	r := strings.NewReader("\n " + strings.Repeat("x", 19<<20))
	got, err := readBody(r, r.Len())
	if err != nil || cap(got) > 4*mostPromised || r.Len() != 0 {
		t.Errorf("%d bytes are kept, %d left unread, %v", cap(got), r.Len(), err)
	}
}
