package csvrows

import (
	"reflect"
	"strings"
	"testing"
)

func TestRowsAreReadAsTheyWereMeant(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n\"x, y\",\"1\n2\"\n\nc":       "a|b;x, y|1\n2;c",
		"a,\"never closed\nb,\"\"\nc,\"d\"": "a|\"never closed;b|;c|d",
		"a,6\"\nb,\"5\" wide\",x":           "a|6\";b|5\" wide|x",
		`a, "x, y" ,"say \"hi\", now"`:      `a|x, y|say "hi", now`,
		`a,"C:\"` + "\n" + `b,"D:\x"`:       `a|C:\;b|D:\x`,
		"a,":                                "a|",
		"\"":                                "\"",
		"":                                  "",
	} {
		var rows []string
		for _, row := range Of(text, ',', len(text)) {
			rows = append(rows, strings.Join(row, "|"))
		}
		if got := strings.Join(rows, ";"); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := Of("a\tb\n\"big\" one\t2\nc\td", '\t', 2); !reflect.DeepEqual(got, [][]string{{"a", "b"}, {`"big" one`, "2"}}) {
		t.Errorf("%q", got)
	}
}
