"""instructor in its modes that ask for calls and schemas."""

import instructor
from openai import OpenAI
from pydantic import BaseModel, Field

from common import ASK, is_rome, main


class Mayor(BaseModel):
    name: str
    age: int = Field(ge=18, le=120)


class City(BaseModel):
    name: str
    population: int
    latitude: float = Field(ge=-90, le=90)
    mayor: Mayor


def create(base, model, mode, **more):
    c = instructor.from_openai(OpenAI(base_url=base + "/v1", api_key="any", max_retries=0), mode=mode)
    return c.chat.completions.create(model=model, messages=[{"role": "user", "content": ASK}], response_model=City, max_retries=0, **more)


def tools(base, model):
    is_rome(create(base, model, instructor.Mode.TOOLS))


def tools_strict(base, model):
    is_rome(create(base, model, instructor.Mode.TOOLS_STRICT))


def json_schema(base, model):
    is_rome(create(base, model, instructor.Mode.JSON_SCHEMA))


def partial(base, model):
    c = instructor.from_openai(OpenAI(base_url=base + "/v1", api_key="any", max_retries=0))
    last = None
    for last in c.chat.completions.create_partial(model=model, messages=[{"role": "user", "content": ASK}], response_model=City):
        pass
    is_rome(last)


main(tools, tools_strict, json_schema, partial)
