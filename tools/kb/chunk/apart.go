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

// fileTime bounds how long reading a file may take. A PDF of a thousand pages takes some seconds.
const fileTime = 2 * time.Minute

// mostText bounds the text of a file in bytes.
const mostText = 32 << 20

// errBroken is the error for a file that makes its reader panic.
var errBroken = errors.New("it is not a file of this kind that can be read; it may be broken")

// apart maps file extensions to the readers for kinds of files that could be made to need any
// amount of time or memory. These readers run in another process.
var apart = map[string]func(data []byte) (Text, error){
	".pdf":  textOfPDF,
	".docx": readDOCX, ".docm": readDOCX, ".dotx": readDOCX,
	".xlsx": readXLSX, ".xlsm": readXLSX,
	".pptx": readPPTX, ".pptm": readPPTX, ".ppsx": readPPTX,
	".odt": readODF, ".ods": readODF, ".odp": readODF, ".ott": readODF,
	".hwpx": readHWPX, ".epub": readEPUB, ".csv": readCSV, ".tsv": readCSV, ".eml": readMail,
}

// apartReader reads files in its own process, which can be ended. Bounds within a reader would not
// limit a library, and a tree of pages that contains itself has no last page. A request is the
// file's extension, a line end and the file.
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

// readHere reads a file in this process. It returns errBroken if the reader panics. The parameter
// ending is the file's extension, which must be a key of the map apart.
func readHere(ending string, data []byte) (t Text, err error) {
	defer func() { // a library may panic on a broken file
		if broken := recover(); broken != nil {
			t, err = Text{}, errBroken
		}
	}()
	return apart[ending](data)
}

// readApart reads a file in another process. It returns the reader's error, or an error if the
// process was ended, for example because it took too long.
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
