package main

import (
	"context"
	"path/filepath"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/internal/toolbox"
	"toolnorm/tools/dynamic"
)

// TestCustomToolsRunWithoutAServer: what an administrator made is there for toolrun alone, too,
// with the connections of the settings file or the environment.
func TestCustomToolsRunWithoutAServer(t *testing.T) {
	dir := t.TempDir()
	crm := filepath.Join(dir, "crm.db")
	db := storetest.Open(t, crm)
	must.Have(db.Exec("CREATE TABLE deals (id INTEGER, won TEXT); INSERT INTO deals VALUES (1, 'Y'), (2, 'N')"))(t)
	db.Close()
	box := must.Have(toolbox.Open(context.Background(), toolbox.Config{Data: dir, Connections: map[string]string{"crm": crm}}))(t)
	for _, d := range []dynamic.Draft{
		{Name: "multiply_numbers", DescriptionAgent: "product", Type: "PYTHON", Definition: "num1 * num2", Active: true, Params: []dynamic.Param{{Name: "num1", Type: "NUMBER", Required: true}, {Name: "num2", Type: "NUMBER", Required: true}}},
		{Name: "count_deals", DescriptionAgent: "deals won or not", Type: "SQL", Definition: "SELECT count(*) AS n FROM deals WHERE won = :won", Active: true, Options: dynamic.Options{Connection: "crm"}, Params: []dynamic.Param{{Name: "won", Type: "STRING", Required: true}}},
	} {
		must.Have(box.Custom.Create(t.Context(), "tester", d))(t)
	}
	box.Close()
	settings := filepath.Join(dir, "toolnorm.yaml")
	must.Write(t, settings, "data: "+dir+"\nconnections:\n  crm: "+crm+"\n")
	for _, tt := range []struct {
		env        map[string]string
		name, args string
		want       string
	}{
		{map[string]string{"TOOLNORM_DATA": dir}, "multiply_numbers", `{"num1":5,"num2":3}`, `{"success":true,"result":15}`},
		{map[string]string{"TOOLNORM_CONFIG": settings}, "count_deals", `{"won":"Y"}`, `{"success":true,"result":{"n":1}}`},
		{map[string]string{"TOOLNORM_DATA": dir, "TOOLNORM_CONNECTION": "crm=" + crm}, "count_deals", `{"won":"Y' OR 1=1 --"}`, `{"success":true,"result":{"n":0}}`},
		{map[string]string{"TOOLNORM_DATA": dir}, "count_deals", `{"won":"Y"}`, `{"success":false,"error":"tool count_deals cannot be called: there is no connection \"crm\"; there are sample"}`},
	} {
		if got := runs(t, tt.env, "", tt.name, tt.args); got.out != tt.want+"\n" {
			t.Errorf("%v %s: %+v", tt.env, tt.name, got)
		}
	}
	if got := runs(t, map[string]string{"TOOLNORM_DATA": dir, "TOOLNORM_CONNECTION": "crm"}, "", "multiply_numbers", "{}"); got.status != statusUsage {
		t.Errorf("a setting that is none: %+v", got)
	}
}
