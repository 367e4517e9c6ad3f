package find

import (
	"strings"
	"testing"

	"toolnorm/tools"
)

// TestBorrowedWordsAreHeard holds that Korean and Japanese spellings of words find tools with these
// words, also with particles behind them and in one piece with others.
func TestBorrowedWordsAreHeard(t *testing.T) {
	said := map[string]string{
		"channel": "채널 チャンネル", "message": "메시지 メッセージ", "project": "프로젝트 プロジェクト", "container": "컨테이너 コンテナ",
		"branch": "브랜치 ブランチ", "commit": "커밋 コミット", "collection": "컬렉션 コレクション", "screenshot": "스크린샷 スクリーンショット",
		"database": "데이터베이스 データベース", "template": "템플릿 テンプレート", "comment": "코멘트 コメント", "hotel": "호텔 ホテル",
		"label": "라벨 ラベル", "browser": "브라우저 ブラウザ", "checklist": "체크리스트 チェックリスト", "index": "인덱스 インデックス",
		"button": "버튼 ボタン", "network": "네트워크 ネットワーク", "document": "도큐먼트 ドキュメント", "calendar": "캘린더 カレンダー",
	}
	l := loans{}
	for word := range said {
		l.add("the " + word + "s and a " + word)
	}
	missing := 0
	for word, as := range said {
		for _, spelled := range strings.Fields(as) {
			for _, text := range []string{spelled, spelled + "를 보여 줘", "새 " + spelled + "에서", spelled + "を見せて", "新しい" + spelled + "の"} {
				if !strings.Contains(l.heard(text), " "+word) { // or words
					t.Logf("%s is not heard in %s", word, text)
					missing++
				}
			}
		}
	}
	if all := 5 * 2 * len(said); missing > all/20 {
		t.Errorf("%d of %d are not heard", missing, all)
	}
}

// TestNothingIsHeardInOtherWords holds that everyday words of both languages are rarely taken for
// words of tools.
func TestNothingIsHeardInOtherWords(t *testing.T) {
	l := loans{}
	for _, tool := range readTools(t, "tools.txt", "more_tools.txt") {
		l.add(Words(tool.Name) + " " + tool.Description)
	}
	words := strings.Fields("오늘 내일 어제 아침 저녁 사람 친구 회사 학교 집에 가고 싶어요 먹었어요 봅니다 알려 주세요 보여 줘 만들어 찾아 바꿔 고맙습니다 안녕하세요 그리고 하지만 왜냐하면 무엇 어디 언제 누가 얼마나 많이 조금 빨리 천천히 다시 모두 아직 이미 さようなら カラス ネコ ウサギ サクラ タヌキ")
	heard := 0
	for _, word := range words {
		if l.heard(word) != "" {
			heard++
		}
	}
	if heard > len(words)/5 {
		t.Errorf("%d of %d words are taken for others", heard, len(words))
	}
	t.Logf("%d of %d", heard, len(words))
}

// TestSoundsOfAnyText holds that no text makes the reader of sounds fail.
func TestSoundsOfAnyText(t *testing.T) {
	for _, text := range []string{"", "ー", "ッ", "ン", "ンン", "ㅋㅋㅋ", "ᄀ", "가", "힣", "x", "tch", "h", "r", "chchchchch", "gegegegege", "がぎぐ", "\xff"} {
		l := loans{}
		l.add(text)
		l.heard(text)
	}
}

// TestSpelledInOneOrTwo holds that a tool is found where its words are joined or divided in another
// way.
func TestSpelledInOneOrTwo(t *testing.T) {
	f := New([]tools.Tool{{Name: "a.localstorage_set"}, {Name: "a.file_upload"}, {Name: "a.dropDownSelect"}, {Name: "a.other"}})
	for question, want := range map[string]string{"local storage": "a.localstorage_set", "fileupload": "a.file_upload", "the drop-down": "a.dropDownSelect", "dropdown": "a.dropDownSelect"} {
		if got := f.Rank(question); len(got) == 0 || got[0].Name != want {
			t.Errorf("%s finds %v", question, got)
		}
	}
}
