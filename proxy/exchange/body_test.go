package exchange

import (
	"bytes"
	"errors"
	"io"
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

// A body that begins as no object is read to its end, since many clients read no answer before
// they have sent all, and not kept.
func TestABodyThatIsNoObjectIsNotKept(t *testing.T) {
	r := strings.NewReader("\n " + strings.Repeat("x", 19<<20))
	got, err := readBody(r, r.Len())
	if err != nil || cap(got) > 4*mostPromised || r.Len() != 0 {
		t.Errorf("%d bytes are kept, %d left unread, %v", cap(got), r.Len(), err)
	}
}
