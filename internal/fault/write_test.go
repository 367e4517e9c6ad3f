package fault

import (
	"net/http/httptest"
	"testing"
	"time"
)

// TestClientsAreToldWhetherToTryAgain has one row for each kind: what OpenAI's clients do goes by
// the status (408, 409, 429 and 500 or more are sent again) unless X-Should-Retry tells.
func TestClientsAreToldWhetherToTryAgain(t *testing.T) {
	for kind, want := range map[Kind]struct {
		status       int
		after, again string
	}{
		Internal:     {500, "", "false"},
		Invalid:      {400, "", "false"},
		Unauthorized: {401, "", "false"},
		Forbidden:    {403, "", "false"},
		NotFound:     {404, "", "false"},
		Method:       {405, "", "false"},
		Conflict:     {409, "", "false"},
		TooLarge:     {413, "", "false"},
		Unable:       {400, "", "false"},
		Limited:      {429, "2", ""},
		Canceled:     {499, "", "false"},
		Failed:       {502, "", "false"},
		Unavailable:  {502, "1", ""},
		Busy:         {503, "2", ""},
		Timeout:      {504, "", "false"},
	} {
		w := httptest.NewRecorder()
		Write(w, New(kind, "what went wrong"))
		if w.Code != want.status || w.Header().Get("Retry-After") != want.after || w.Header().Get("X-Should-Retry") != want.again {
			t.Errorf("kind %d: %d %v, want %+v", kind, w.Code, w.Header(), want)
		}
	}
	if len(table) != 15 {
		t.Errorf("%d kinds, and 15 rows here", len(table))
	}
}

func TestAFaultIsWrittenInTheFormOfItsAPI(t *testing.T) {
	e := &Error{Kind: Busy, Message: "a \"<b>\" \xff", Param: "model", Retry: 2100 * time.Millisecond}
	w := httptest.NewRecorder()
	Write(w, e)
	if want := `{"error":{"message":"a \"<b>\" ` + "\\ufffd" + `","type":"server_error","param":"model","code":"upstream_busy"}}` + "\n"; w.Body.String() != want || w.Header().Get("Retry-After") != "3" {
		t.Errorf("%v %s, want %s", w.Header(), w.Body, want)
	}
	w = httptest.NewRecorder()
	WriteOllama(w, &Error{Message: "no"})
	if w.Body.String() != `{"error":"no"}`+"\n" || w.Code != 500 || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestWhatOnlyAnotherWayCouldCureIsNotSentAgain(t *testing.T) {
	w := httptest.NewRecorder()
	Write(w, &Error{Kind: Unavailable, Message: "the server cannot read what its model wrote", Curable: true})
	if w.Code != 502 || w.Header().Get("X-Should-Retry") != "false" || w.Header().Get("Retry-After") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
