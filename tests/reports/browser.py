"""Pages in headless Chromium: what a script of the test's own finds in them, as JSON."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--disable-quic")
DARK = ("--blink-settings=preferredColorScheme=0",)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')  # it lets no script in, the test's neither
ANSWER = re.compile(r'<pre id="test-answer">(.*?)</pre>', re.DOTALL)


def asked(page: str, script: str, chromium: str, folder: Path, *flags: str, width: int = 1280) -> Any:
    """What a script finds in a page.

    Args:
        page: the HTML of it; its rule against scripts is taken out.
        script: the body of an asynchronous function that returns what JSON can say.
        chromium: the browser.
        folder: where to write.
        *flags: further ones of the browser.
        width: of the window; a frame has widths that no window has.
    """
    inner = base64.b64encode((POLICY.sub("", page)).encode()).decode()
    body = base64.b64encode(f"(async () => {{ {script} }})()".encode()).decode()
    outer = f"""<!doctype html><meta charset=utf-8><iframe id=f width={width} height=900 style="border:0"></iframe>
<script>
const text = coded => new TextDecoder().decode(Uint8Array.from(atob(coded), one => one.charCodeAt(0)));
const frame = document.getElementById('f'), answer = document.createElement('pre');
answer.id = 'test-answer';
frame.onload = async () => {{
  try {{ answer.textContent = JSON.stringify(await frame.contentWindow.eval(text("{body}"))); }}
  catch (error) {{ answer.textContent = JSON.stringify('raised: ' + error); }}
  frame.remove(); document.body.append(answer);
}};
frame.srcdoc = text("{inner}");
</script>"""
    path = folder / "outer.html"
    path.write_text(outer, encoding="utf-8")
    places = (f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=60000", "--dump-dom", path.as_uri())
    run = subprocess.run([chromium, *FLAGS, *flags, *places], capture_output=True, text=True, timeout=240, check=True)
    answers = ANSWER.findall(run.stdout)
    assert len(answers) == 1, run.stderr[-500:]
    return json.loads(unescape(answers[0]))
