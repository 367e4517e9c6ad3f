package chunk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolnorm/internal/aside"
)

// fileTime is how long a file may take. A PDF of a thousand pages takes some seconds.
const fileTime = 2 * time.Minute

// mostText is how many bytes of text a file may have.
const mostText = 32 << 20

// errBroken is the error for a file that makes its reader fail.
var errBroken = errors.New("it is not a file of this kind that can be read; it may be broken")

// apart are the readers for kinds of files that can be made to take any time or memory.
var apart = map[string]func(data []byte) (Text, error){
	".pdf":  textOfPDF,
	".docx": readDOCX, ".docm": readDOCX, ".dotx": readDOCX,
	".xlsx": readXLSX, ".xlsm": readXLSX,
	".pptx": readPPTX, ".pptm": readPPTX, ".ppsx": readPPTX,
	".odt": readODF, ".ods": readODF, ".odp": readODF, ".ott": readODF,
	".hwpx": readHWPX, ".epub": readEPUB, ".csv": readCSV, ".tsv": readCSV, ".eml": readMail,
}

// apartReader reads files in a process of its own, which can be ended: bounds within a reader do
// not limit a library, and a tree of pages that contains itself has no last page. A request is the
// file's ending, a line end and the file.
var apartReader = aside.New("the reader of files", aside.Limits{Processes: 2, Time: fileTime,
	Memory: 1 << 30, Keep: 256 << 20}, nil,
	func(request []byte) ([]byte, error) {
		ending, data, _ := bytes.Cut(request, []byte("\n"))
		t, err := readHere(string(ending), data)
		if err != nil {
			return nil, err
		}
		return json.Marshal(t)
	})

// readHere reads a file in this process.
func readHere(ending string, data []byte) (t Text, err error) {
	defer func() { // a library may end a broken file by panicking
		if broken := recover(); broken != nil {
			t, err = Text{}, errBroken
		}
	}()
	return apart[ending](data)
}

// readApart reads a file in another process.
func readApart(name string, data []byte) (t Text, err error) {
	ending := strings.ToLower(filepath.Ext(name))
	answer, err := apartReader.Do(context.Background(), slices.Concat([]byte(ending+"\n"), data))
	var said aside.Failed
	var ended *aside.Ended
	switch {
	case errors.As(err, &said):
		return t, errors.New(string(said))
	case errors.As(err, &ended):
		return t, fmt.Errorf("%w; it may be broken", err)
	case err != nil:
		return t, err
	}
	return t, json.Unmarshal(answer, &t)
}
