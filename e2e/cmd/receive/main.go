// Command receive stands for the runner in tests of shells: it appends its arguments, with a NUL
// between and two at the end, to the file RECEIVED. Under any other name than toolrun it notes in
// that file that it was started, which nothing in a command may do.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	record := strings.Join(os.Args[1:], "\x00") + "\x00\x00"
	if name := filepath.Base(os.Args[0]); name != "toolrun" {
		record = name + " was started\x00\x00"
	}
	if err := note(os.Getenv("RECEIVED"), record); err != nil {
		fmt.Fprintln(os.Stderr, "receive:", err)
		os.Exit(1)
	}
}

// note appends to a file in one write.
func note(path, record string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(record); err != nil {
		return err
	}
	return f.Close()
}
