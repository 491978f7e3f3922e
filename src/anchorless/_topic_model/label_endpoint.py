"""Names of topics from a language model: any server with the chat interface of OpenAI, such as one on this machine.

Nothing is sent unless the user names the server. The prompts hold the leading words of a topic and, if asked for,
quotes of its documents; they are kept in the model file with the answers.
"""

from __future__ import annotations

import http.client
import json
import queue
import re
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from anchorless._corpus.io.tabular import replace_surrogates
from anchorless._corpus.threads import start_call
from anchorless._report.html import DocumentRecord
from anchorless._text_safety import replace_controls
from anchorless._topic_model.summary import Topic
from anchorless.errors import InputError

#: Longest name that is taken from an answer, in characters, and characters of a quote.
MAX_NAME, MAX_QUOTE = 60, 300
#: Tokens of an answer: some models think before they answer.
MAX_TOKENS = 1000
#: What a model thinks: up to the end where the server gives no beginning, or no end.
THOUGHTS = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*", re.DOTALL | re.IGNORECASE)
#: Marks of Markdown, and what may stand before a name.
MARKUP, HEADING = re.compile(r"\*\*|`"), re.compile(r"\A(?:name of the topic|topic name|topic|name) *:", re.IGNORECASE)
#: What is removed from both ends of a name.
ENDS = "\"'*#.•- "
#: Hosts of this machine: no proxy is asked for them.
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
#: Bytes of an answer that are read.
MAX_ANSWER_BYTES = 1_000_000
INSTRUCTION = (
    "You name topics of a text collection. Answer with the name only: 1 to 4 words, no quotation marks, "
    "no explanation. The name must fit all words, not just the first."
)


class LabelServer(NamedTuple):
    """A language model behind an address."""

    endpoint: str
    model: str
    timeout: float


def build_prompt(topic: Topic, quotes: Sequence[DocumentRecord]) -> str:
    """Return the question about one topic."""
    lines = [f"Leading words: {', '.join(topic.words)}"]
    lines += [f"Document: {' '.join(quote.snippet.split())[:MAX_QUOTE]}" for quote in quotes]
    return "\n".join([*lines, "Name of the topic:"])


def ask_server(server: LabelServer, prompt: str) -> str:
    """Send a prompt and return the answer."""
    messages = [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": prompt}]
    body = {"model": server.model, "messages": messages, "temperature": 0, "seed": 0, "max_tokens": MAX_TOKENS}
    address = resolve_address(server.endpoint)
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        content = fetch_content(request, server.timeout)
    except urllib.error.HTTPError as error:
        with error:  # it holds the connection
            raise InputError(f"{address} answers with HTTP {error.code} {error.reason}", remedy=CHECK) from None
    except TimeoutError:
        raise make_timeout_error(address, server) from None
    except (urllib.error.URLError, http.client.HTTPException, UnicodeError, OSError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise make_timeout_error(address, server) from None
        raise InputError(f"cannot reach {address}: {str(reason) or type(reason).__name__}", remedy=CHECK) from None
    return read_answer(content, address)


CHECK = "check that the server is running, its address and the name of its model"


def fetch_content(request: urllib.request.Request, timeout: float) -> bytes:
    """Return the bytes of an answer; a server that sends one now and then, also in headers, is left at a time."""

    def fetch() -> bytes:
        with open_request(request, timeout) as response:
            return bytes(response.read(MAX_ANSWER_BYTES))

    try:
        content, error = start_call(fetch).get(timeout=timeout)
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return content or b""


class RefuseRedirects(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: the user has named this server, and no other."""

    def redirect_request(self, *_: Any) -> None:
        """Return no other request, so that the answer is an error."""
        return


def make_timeout_error(address: str, server: LabelServer) -> InputError:
    """Return the error of a server that takes too long."""
    return InputError(f"{address} gave no answer within {server.timeout:g} seconds", remedy="raise {timeout}")


def open_request(request: urllib.request.Request, timeout: float) -> Any:
    """Open a request; a server on this machine is asked directly, not through a proxy."""
    is_local = urlsplit(request.full_url).hostname in LOCAL_HOSTS
    direct = [urllib.request.ProxyHandler({})] if is_local else []
    opener = urllib.request.build_opener(RefuseRedirects, *direct)
    return opener.open(request, timeout=timeout)


def resolve_address(endpoint: str) -> str:
    """Return the address of the chat interface: the server, its /v1, or the whole address may be given."""
    try:
        parts = urlsplit(endpoint)
        is_server = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, AttributeError):  # a bracket without its pair, a port that is no number, no text
        is_server = False
    if not is_server:
        problem = "it is not the address of a server"
        raise InputError(problem, parameter="endpoint", value=endpoint, remedy="write it like http://127.0.0.1:8080")
    base = endpoint.rstrip("/")
    if base.endswith("/chat/completions"):
        return base
    return f"{base}/chat/completions" if base.endswith("/v1") else f"{base}/v1/chat/completions"


def read_answer(content: bytes, address: str) -> str:
    """Return the text of an answer."""
    try:
        answer = json.loads(content)["choices"][0]["message"]["content"]
        if not isinstance(answer, str):
            raise TypeError
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        start = content[:80].decode(errors="replace")
        raise InputError(f"{address} gave no answer of the chat interface, but {start!r}", remedy=CHECK) from None
    return replace_surrogates(answer)


def clean_answer(answer: str) -> str | None:
    """Return the first line of an answer as a name, without what the model thought; None where there is none."""
    names = (clean_line(line) for line in THOUGHTS.sub("", answer).splitlines())
    return next((name for name in names if name), None)


def clean_line(line: str) -> str:
    """Return a line of an answer without markup, headings and control characters, at most as long as a name."""
    name = MARKUP.sub("", " ".join(replace_controls(line).split())).strip(ENDS)
    return HEADING.sub("", name).strip(ENDS)[:MAX_NAME].strip()
