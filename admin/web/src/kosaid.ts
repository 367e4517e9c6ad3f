// What the server says, in Korean: its own sentences, with {} for what it puts in. A sentence that is missing here is shown as it is.
// A test holds that every repair of docs/repairs.md is here.
export const koSaid: Record<string, string> = {
  // MCP servers
  'it wants a sign-in or a key (status 401): sign in on the page MCP servers of /admin, or run toolnorm mcp login with its name, or give it a key in headers':
    '로그인이나 키가 필요합니다(상태 401). /admin의 MCP 서버 페이지에서 로그인하거나, 이름을 붙여 toolnorm mcp login을 실행하거나, headers에 키를 넣으세요',

  // repairs
  'a call whose tool was not offered, or that does not fit its schema and that nothing could repair, is shown as text':
    '제공되지 않은 도구의 호출이나, 스키마에 맞지 않고 고칠 수 없는 호출을 텍스트로 표시했습니다',
  'a key without quotes was given some': '따옴표가 없는 키에 따옴표를 붙였습니다',
  'a value without quotes became text': '따옴표가 없는 값을 텍스트로 바꿨습니다',
  'with the setting out-of-bounds clamp: a number that was out of its bounds became the nearest that is within':
    '설정 out-of-bounds clamp: 범위를 벗어난 숫자를 범위 안의 가장 가까운 값으로 바꿨습니다',
  'brackets, quotes or marks that close the call were missing or the wrong ones, and were added':
    '호출을 닫는 괄호, 따옴표 또는 표시가 없거나 잘못되어 추가했습니다',
  'a comment was left out': '주석을 제거했습니다',
  "a mark around the call that was damaged, doubled, missing or in another's place was put right":
    '호출을 둘러싼 표식이 손상되었거나, 두 번 쓰였거나, 빠졌거나, 다른 자리에 있어서 바로잡았습니다',
  'a line break or another control byte inside a string was escaped':
    '문자열 안의 줄바꿈이나 제어 문자를 이스케이프했습니다',
  'braces that were doubled, as in a template, were halved':
    '템플릿처럼 두 번 쓴 중괄호를 하나로 줄였습니다',
  'optional members whose values did not fit were left out':
    '값이 맞지 않는 선택 항목을 제거했습니다',
  'dots that stood for further items were left out': '나머지 항목을 뜻하는 점들을 제거했습니다',
  'an equals sign, an arrow or several colons between key and value became a colon':
    '키와 값 사이의 등호, 화살표 또는 여러 콜론을 콜론 하나로 바꿨습니다',
  'an escape that JSON does not know became the character that was meant, or a backslash':
    'JSON에 없는 이스케이프를 원래 문자나 백슬래시로 바꿨습니다',
  'something behind the end of the value, mostly a bracket that closes nothing, was left out':
    '값이 끝난 뒤에 남은 것(대개 닫는 괄호)을 제거했습니다',
  'a comma without anything before it was left out': '앞에 아무것도 없는 쉼표를 제거했습니다',
  'an answer that response_format wants in another form was repaired, or written once more':
    'response_format에 맞지 않는 답을 고치거나 다시 쓰게 했습니다',
  'a comma or colon of East Asian width became the plain one':
    '전각 쉼표나 콜론을 반각으로 바꿨습니다',
  'quotes inside quotes were escaped, or those around an object left out':
    '따옴표 안의 따옴표를 이스케이프하거나 객체를 둘러싼 따옴표를 제거했습니다',
  'the model went on from a result, or from a turn of the user, that it had made up: the calls behind it were left out, and so were the block and what it wrote behind such a call':
    '모델이 도구 결과나 사용자의 차례를 지어내고 계속 썼습니다. 그 뒤의 호출과 해당 블록, 그 뒤의 글을 제거했습니다',
  'strings that are joined by a plus sign, or in Python by nothing, became one':
    '이어 붙인 문자열을 하나로 합쳤습니다',
  "a parameter in another case, or with other separators, got the schema's spelling":
    '대소문자나 구분 기호가 다른 매개변수 이름을 스키마의 표기로 바꿨습니다',
  'the rest of a call whose beginning was sent did not fit: the call stays open and the reply ends with length':
    '이미 보낸 호출의 나머지가 맞지 않아 호출을 닫지 않고 응답을 length로 끝냈습니다',
  "a number or word in another language's spelling became JSON's":
    '다른 언어 표기의 숫자나 단어를 JSON 표기로 바꿨습니다',
  'with the setting misfit pass: a call that does not fit its schema is sent as it is':
    '설정 misfit pass: 스키마에 맞지 않는 호출을 그대로 보냈습니다',
  'the colon between key and value was missing and was added':
    '키와 값 사이에 빠진 콜론을 추가했습니다',
  'the comma between two members or items was missing and was added':
    '항목 사이에 빠진 쉼표를 추가했습니다',
  'the model called a tool, said when asked that it needs none, and answered again without tools':
    '모델이 도구를 호출했지만, 필요한지 묻자 필요 없다고 하여 도구 없이 다시 답했습니다',
  'a parameter that may be left out, and may not be null, was null and was left out':
    'null일 수 없는 선택 매개변수가 null이어서 제거했습니다',
  'a whole object or list in a string was taken out of it':
    '문자열에 들어 있던 객체나 목록을 꺼냈습니다',
  'a space that JSON does not know became a plain one':
    'JSON에 없는 공백을 일반 공백으로 바꿨습니다',
  'the brace that opens the object was missing and was added':
    '객체를 여는 중괄호가 없어 추가했습니다',
  'with the setting out-of-bounds pass: a call with a value out of its bounds is sent as it is':
    '설정 out-of-bounds pass: 범위를 벗어난 값이 있는 호출을 그대로 보냈습니다',
  'the backslashes of a Windows path were doubled': 'Windows 경로의 백슬래시를 두 개로 바꿨습니다',
  'quotes of another kind became double ones': '다른 종류의 따옴표를 큰따옴표로 바꿨습니다',
  "arguments that are no JSON: lines, elements, flags or a query became an object, a program the tool's only parameter":
    'JSON이 아닌 인수를 객체로, 프로그램은 도구의 유일한 매개변수로 바꿨습니다',
  'the model was told what is wrong with its call, and wrote another one':
    '모델에게 호출의 문제를 알려 다시 쓰게 했습니다',
  'a misspelt member got the name of the one that was missing':
    '철자가 틀린 항목에 빠져 있던 이름을 붙였습니다',
  'a call that the reply had made already, with the same arguments, was left out':
    '응답에 이미 있는 같은 인수의 호출을 제거했습니다',
  'the model wrote the same over and over: the reply was ended, with length; its tokens are an estimate':
    '모델이 같은 글을 반복하여 응답을 length로 끝냈습니다. 토큰 수는 추정치입니다',
  'the model wrote the call, or the rest of it, once more, held to the schema':
    '모델이 스키마에 맞춰 호출이나 그 나머지를 다시 썼습니다',
  'the model made the same call, or the same few calls, over and over: the reply was ended behind the first ones; its tokens are an estimate':
    '모델이 같은 호출을 반복하여 처음 몇 개 뒤에서 응답을 끝냈습니다. 토큰 수는 추정치입니다',
  'the reply ended behind its first call, as parallel_tool_calls wants; its tokens are an estimate':
    'parallel_tool_calls에 따라 첫 호출 뒤에서 응답을 끝냈습니다. 토큰 수는 추정치입니다',
  "members that the tool's schema forbids were left out":
    '도구의 스키마가 허용하지 않는 항목을 제거했습니다',
  'words, a fence or thinking around the JSON were left out':
    'JSON 주위의 글, 코드 블록 또는 생각을 제거했습니다',
  'arguments nested deeper than 512 levels were cut there': '512단계보다 깊은 인수를 잘랐습니다',
  'a comma behind the last member or item was left out': '마지막 항목 뒤의 쉼표를 제거했습니다',
  'the text ended inside the value, which was closed there':
    '값 도중에 글이 끝나 그 자리에서 닫았습니다',
  'a list in round brackets or braces got square ones':
    '둥근 괄호나 중괄호로 쓴 목록을 대괄호로 바꿨습니다',
  'a call with placeholders for all values is shown as text':
    '모든 값이 자리표시자인 호출은 텍스트로 표시됩니다',
  'a call that can be read in two ways is shown as text':
    '두 가지로 읽을 수 있는 호출을 텍스트로 표시했습니다',
  'a text became a value of the type that the schema wants':
    '텍스트를 스키마가 요구하는 형식의 값으로 바꿨습니다',
  'the model did not begin to write, was unloaded by the setting unload-stuck, and asked once more':
    '모델이 쓰기 시작하지 않아 설정 unload-stuck에 따라 언로드하고 다시 요청했습니다',
  'a byte that is no UTF-8 became U+FFFD': 'UTF-8이 아닌 바이트를 U+FFFD로 바꿨습니다',
  'a lone member that holds all arguments was left out':
    '모든 인수를 감싼 항목 하나를 제거했습니다',
  // why a text is no call
  '{} does not fit its schema: {}. The server has the model write the call again.':
    '{}이(가) 스키마에 맞지 않습니다: {}. 서버가 모델에게 호출을 다시 쓰게 합니다.',
  'The reply was cut inside a call, which was left out: {}.':
    '응답이 호출 도중에 잘려 그 호출을 제거했습니다: {}.',
  'The text has a call of {}, but no tools were offered, so nothing is a call.':
    '텍스트에 {} 호출이 있지만 제공된 도구가 없어 호출이 아닙니다.',
  '{} is not among the offered tools ({}).': '{}은(는) 제공된 도구({})에 없습니다.',
  'The text names {}, but what follows cannot be read as its arguments without doubt, so it stays text.':
    '텍스트에 {}이(가) 나오지만 뒤따르는 글을 인수로 확실히 읽을 수 없어 텍스트로 남습니다.',
  // tools
  "a tool's name is a letter and up to 63 of A-Z a-z 0-9 _ -":
    '도구 이름은 영문자로 시작하고 A-Z a-z 0-9 _ - 를 63자까지 더 쓸 수 있습니다',
  'models need to know what the tool does, when to use it and what comes back':
    '도구가 무엇을 하는지, 언제 쓰는지, 무엇을 돌려주는지 모델에게 알려 주세요',
  'enter a query or an expression': '쿼리나 표현식을 입력하세요',
  'there is no parameter {}': '매개변수 {}이(가) 없습니다',
  'there are two parameters {}': '매개변수 {}이(가) 두 개 있습니다',
  'only SELECT statements are allowed; this is {}':
    'SELECT 문만 사용할 수 있습니다. 이것은 {}입니다',
  'only one statement is allowed; a second begins here':
    '문은 하나만 사용할 수 있습니다. 여기서 두 번째 문이 시작됩니다',
  // examples and sets of tools
  'expected an error with "{}", got a result: {}':
    '"{}"이(가) 든 오류가 나와야 하는데 결과가 나왔습니다: {}',
  'expected an error with "{}", got another: {}':
    '"{}"이(가) 든 오류가 나와야 하는데 다른 오류가 나왔습니다: {}',
  'expected a result, got an error: {}': '결과가 나와야 하는데 오류가 나왔습니다: {}',
  'expected another result': '결과가 다릅니다',
  'expected rows {}, got {}': '행 수가 {}이어야 하는데 {}입니다',
  'expected a result that contains "{}", got {}':
    '결과에 "{}"이(가) 있어야 하는데 결과는 다음과 같습니다: {}',
  'rows counts the rows of a SELECT or the members of a list, and the result is neither: {}':
    'rows는 SELECT의 행이나 목록의 항목을 세는데 결과는 둘 다 아닙니다: {}',
  'it could not be run: {}': '실행하지 못했습니다: {}',
  '{}: expected {}, and it is not there': '{}: {}이(가) 있어야 하는데 없습니다',
  '{}: got {}, which was not expected': '{}: 없어야 할 {}이(가) 있습니다',
  '{}: expected {} members, got {}': '{}: 항목이 {}개여야 하는데 {}개입니다',
  '{}: expected {}, got {}': '{}: {}이어야 하는데 {}입니다',
  'and {} more places': '그 밖에 {}곳',
  'arguments is a JSON object': '인수는 JSON 객체입니다',
  'a call that has to fail has no result, rows or contains':
    '실패해야 하는 호출에는 result, rows, contains를 쓸 수 없습니다',
  'rows is a number, with >=, <=, >, < or = in front of it, and not "{}"':
    'rows는 숫자이며 앞에 >=, <=, >, <, =를 붙일 수 있습니다. "{}"은(는) 아닙니다',
  "a set's name is 1 to 64 of a-z 0-9 _ -, and begins with a letter or a digit":
    '모음의 이름은 a-z 0-9 _ - 1~64자이며 영문자나 숫자로 시작합니다',
  'there is a set {} already': '모음 {}이(가) 이미 있습니다',
  'somebody else saved {} meanwhile: it is at version {}, and this was made from {}':
    '그 사이 다른 사람이 {}을(를) 저장했습니다. 지금 버전은 {}이고, 이것은 버전 {}에서 만들었습니다',
  // errors
  'missing or wrong API key; send Authorization: Bearer KEY': 'API 키가 없거나 잘못되었습니다',
  'another examination is running; try again when it has ended':
    '다른 진단이 실행 중입니다. 끝난 뒤 다시 시도하세요',
  'that request does not run any more': '그 요청은 더 이상 실행 중이 아닙니다',
  'that request is not kept any more; only the last ones are (setting trace)':
    '그 요청은 더 이상 보관되지 않습니다. 최근 요청만 보관됩니다(설정 trace)',
  'custom tools are off, since no store is open':
    '저장소가 열려 있지 않아 사용자 도구를 쓸 수 없습니다',
  'knowledge bases are off, since no store is open':
    '저장소가 열려 있지 않아 지식 베이스를 쓸 수 없습니다',
  'there is no such document in the knowledge base': '지식 베이스에 그런 문서가 없습니다',
  'the other knowledge base has a document with this path in a collection of the same name; delete one of the two first':
    '다른 지식 베이스의 같은 이름 컬렉션에 이 경로의 문서가 있습니다. 먼저 둘 중 하나를 삭제하세요',
  'the document was imported again meanwhile; try again':
    '그 사이 문서를 다시 가져왔습니다. 다시 시도하세요',
  'there is no MCP server "{}"': 'MCP 서버 "{}"이(가) 없습니다',
  'the database of tools and knowledge bases does not answer; try again when it is up':
    '도구와 지식 베이스의 데이터베이스가 응답하지 않습니다. 다시 실행된 뒤 시도하세요',
};
