package print

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/internal/test/must"
)

// mixed has one of everything whose spelling differs.
const mixed = ` { "b" : "it's \"so\"\n\u00e9" , "A":[true,{"z":null,"y":[]}, 1.50,1e25,-0.0001 ],"n":null } `

// nested is a family whose tags are named like the parameters.
const nested = "format nested\ncall <c>{name}\\n{args}</c>\narg <t:{key}>{value}</t:{key}>\n"

func TestValuesInEverySpelling(t *testing.T) {
	f, err := declaration.Parse([]byte(nested), nil)
	must.OK(t, err)
	for _, tt := range []struct {
		s    *Spelling
		want string
	}{
		{JSON, `{"b": "it's \"so\"\né", "A": [true, {"z": null, "y": []}, 1.5, 1e+25, -0.0001], "n": null}`},
		{Python, `{'b': 'it\'s "so"\né', 'A': [True, {'z': None, 'y': []}, 1.5, 1e+25, -0.0001], 'n': None}`},
		{Pseudo("$"), "{A:[true,{y:[],z:None},1.5,1e+25,-0.0001],b:$it's \"so\"\né$,n:None}"},
		{Tree(f.Args[0]), "<t:b>it's \"so\"\né</t:b><t:A><t:item>true</t:item><t:item><t:y></t:y></t:item><t:item>1.5</t:item><t:item>1e+25</t:item><t:item>-0.0001</t:item></t:A>"},
	} {
		if got := tt.s.Value(mixed); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.s.Name, got, tt.want)
		}
	}
}

// FuzzJSON holds that what is printed as JSON is the value that was given, and prints the same
// again; and that no text makes the writer fail.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{mixed, `{"a":{"a":1,"a":2}}`, `[[[]],{}]`, `"\ud800\u0000"`, `{"a":[1,]`, `{,}`, `nul`, `1E400`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range []*Spelling{Python, Pseudo("|")} {
			s.Value(text)
		}
		scan.Fields(text)
		got := JSON.Append(nil, text)
		if !json.Valid([]byte(text)) {
			return
		}
		var want, have any
		if read(text, &want) != nil || read(string(got), &have) != nil {
			return // a number that no float64 holds
		}
		if !reflect.DeepEqual(have, want) {
			t.Fatalf("%q is printed as %q", text, got)
		}
		if again := JSON.Append(nil, string(got)); !bytes.Equal(again, got) {
			t.Fatalf("%q is printed again as %q", got, again)
		}
	})
}

// read parses JSON.
func read(text string, v *any) error { return json.Unmarshal([]byte(text), v) }
