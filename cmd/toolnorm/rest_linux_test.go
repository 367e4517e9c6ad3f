package main

import (
	"os"
	"slices"
	"testing"
)

// TestPagesOfTheProgram has the memory of a program whose loader has changed a part.
func TestPagesOfTheProgram(t *testing.T) {
	const smaps = `00400000-00500000 r-xp 00000000 fe:00 1   /opt/with blank/toolnorm
Size:               1024 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
00500000-00600000 r--p 00000000 fe:00 1   /opt/with blank/toolnorm
Anonymous:             0 kB
00600000-00700000 r--p 00000000 fe:00 1   /opt/with blank/toolnorm
Anonymous:             8 kB
00700000-00800000 rw-p 00000000 fe:00 1   /opt/with blank/toolnorm
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 2   /lib/libc.so
Anonymous:             0 kB
`
	if got, want := programPages(smaps, "/opt/with blank/toolnorm"), [][2]uintptr{{0x400000, 0x500000}, {0x500000, 0x600000}}; !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestAServerAtRestIsSmall gives back what this test's own program has mapped, and goes on running.
func TestAServerAtRestIsSmall(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	if len(programPages(string(text), program)) == 0 {
		t.Error("no pages of the program are found")
	}
	giveBack()
}
