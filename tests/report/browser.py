"""A headless Chromium, driven over a pipe in its DevTools protocol: nothing to install but the browser."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "Space": (32, " "),
    "Backspace": (8, ""),
    "ArrowUp": (38, ""),
    "ArrowDown": (40, ""),
}


def find_browser() -> str | None:
    """The browser that $ONSET_CHROMIUM names, else the first that is installed; None where there is none."""
    names = filter(None, (os.environ.get("ONSET_CHROMIUM"), *NAMES))
    return next((found for name in names if (found := shutil.which(name))), None)


class Browser:
    """One page of a browser; use as a context.

    `complaints` has what the page wrote to its console as error or warning, exceptions that it left uncaught
    and requests that failed; `requested` the addresses that it asked for.
    """

    def __init__(self, program: str, profile: Path) -> None:
        self.complaints: list[str] = []
        self.requested: list[str] = []
        self._loaded = False
        self._last = 0
        self._rest = b""
        self._start(program, profile)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _start(self, program: str, profile: Path) -> None:
        """Chromium reads commands from descriptor 3 and writes answers to descriptor 4."""
        pipes = [*os.pipe(), *os.pipe()]
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in pipes]
        for end in pipes:
            os.close(end)
        command_in, self._write, self._read, answer_out = high

        def place() -> None:
            os.dup2(command_in, 3)
            os.dup2(answer_out, 4)

        self._session = None
        self._process = subprocess.Popen(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                f"--user-data-dir={profile}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            preexec_fn=place,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(command_in)
        os.close(answer_out)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol and its answer; raises AssertionError where the browser refuses it."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _next(self, patience: float = 60) -> dict[str, Any]:
        """The next message; events are noted."""
        while b"\0" not in self._rest:
            assert select.select([self._read], [], [], patience)[0], "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has ended"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, given: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent":
            self.requested.append(given["request"]["url"])
        elif event == "Network.loadingFailed":
            self.complaints.append(f"a request failed: {given.get('errorText')}")
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(f"uncaught: {given['exceptionDetails'].get('text')}")
        elif event == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console: {given['args']}")
        elif event == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"log: {given['entry']['text']}")

    def open(
        self,
        page: Path,
        fragment: str = "",
        width: int = 1280,
        height: int = 900,
        scripts: bool = True,
    ) -> None:
        """Load a file without a network, at a size of the window, and wait until all of it is there."""
        mobile = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=-1,
            uploadThroughput=-1,
        )
        self._navigate("about:blank")
        self.complaints.clear()
        self.requested.clear()
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self._navigate(page.resolve().as_uri() + fragment)
        self.call("Emulation.setScriptExecutionDisabled", value=False)
        self.value("Promise.all([...document.images].map((image) => image.decode().catch(() => 0)))")

    def _navigate(self, address: str) -> None:
        self._loaded = False
        answer = self.call("Page.navigate", url=address)
        assert "errorText" not in answer, f"{address}: {answer['errorText']}"
        while not self._loaded:
            self._next()

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript gives, awaited where it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys: str, shift: bool = False) -> None:
        """Press keys, named as in KEYS or single characters."""
        for key in keys:
            code, text = KEYS.get(key, (ord(key[0].upper()), key))
            given = {
                "key": " " if key == "Space" else key,
                "code": key if key in KEYS else f"Key{key.upper()}",
                "windowsVirtualKeyCode": code,
                "modifiers": 8 if shift else 0,
            }
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **given)
            self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def type(self, text: str) -> None:
        """Type text where the focus is."""
        self.press(*text)

    def screenshot(self, path: Path) -> None:
        """What the window shows, as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed on A4."""
        answer = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=True)
        return base64.b64decode(answer["data"])

    def settle(self, seconds: float = 0.2) -> None:
        """Let the page do what it has scheduled."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.value("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")
