package upstream

import (
	_ "github.com/ollama/ollama/api"
	_ "github.com/valyala/fastjson"
)
