"""The page in a real browser against a real server: what a reader clicks, types, drops, sees and takes along.

Needs Chromium on PATH and the package playwright, which drives it; without them the tests in the browser say so and
skip. The pictures of the documentation: EGAM_PICTURES=docs/pictures pytest -m slow tests/serve/test_page.py.
"""

import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

import egam.serve
from egam.instance import KINDS

STATIC = Path(egam.serve.__file__).parent / "static"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
PICTURE_BYTES = 200_000
# A rectangle of 30 x 40: the tour around it has length 30 + 40 + 30 + 40 = 140, the two others 30 + 50 + 30 + 50 = 160
# and 40 + 50 + 40 + 50 = 180.
RECTANGLE = """NAME: rectangle
TYPE: TSP
DIMENSION: 4
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
1 0 0
2 30 0
3 30 40
4 0 40
EOF
"""
# Two customers of demand 6, capacity 10: two routes, there and back, 2 * 30 + 2 * 40 = 140.
TWO_ROUTES = """NAME: two-routes
TYPE: CVRP
DIMENSION: 3
CAPACITY: 10
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
1 0 0
2 30 0
3 0 40
DEMAND_SECTION
1 0
2 6
3 6
DEPOT_SECTION
1
-1
EOF
"""
SOLOMON = """R-three

VEHICLE
NUMBER     CAPACITY
  1         200

CUSTOMER
CUST NO.  XCOORD.   YCOORD.    DEMAND   READY TIME  DUE DATE   SERVICE   TIME

    0      0         0         0          0        230          0
    1     30         0         1          0        100         10
    2     30        40         1          0        200         10
"""
CSV = "name,x,y,prize,penalty\nhome,0,0,,\nmill,30,0,5,7\nquay,30,40,6,8\n"
# Node 1 is 5 away and closes at 4: late by 1 in every order that begins with it, and later in all others.
LATE = {
    "problem": "tsptw",
    "coords": [[0, 0], [3, 4], [6, 8]],
    "window": [[0, 100], [0, 4], [0, 100]],
    "name": "late",
}


# Without a browser.


def test_nothing_comes_from_elsewhere_and_nothing_is_inline():
    """What a strict Content-Security-Policy asks for: no address of another host, no script or style in the HTML."""
    files = sorted(STATIC.iterdir())
    assert {path.suffix for path in files} <= {".html", ".js", ".css", ".svg"}
    for path in files:
        text = path.read_text()
        foreign = set(re.findall(r"(?:https?:)?//[a-z][\w.-]+\.[a-z]{2,}[^\s\"']*", text)) - {
            "http://www.w3.org/2000/svg"
        }
        assert not foreign, f"{path.name}: {foreign}"
        assert "eval(" not in text and "innerHTML" not in text, path.name
    html = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|\son\w+=|\sstyle=|<script(?![^>]*\ssrc=)|javascript:", html)
    for target in re.findall(r'(?:href|src)="static/([^"]+)"', html):
        assert (STATIC / target).is_file(), target


def test_every_module_that_is_imported_is_there():
    for path in STATIC.glob("*.js"):
        for target in re.findall(r'from "\./([^"]+)"', path.read_text()):
            assert (STATIC / target).is_file(), f"{path.name}: {target}"


def test_the_page_knows_every_problem_and_its_fields():
    text = (STATIC / "problems.js").read_text()
    for name, kind in KINDS.items():
        found = re.search(rf"^  {name}: \{{.*?fields: \[(.*?)\], scalars: \[(.*?)\]", text, re.M | re.S)
        assert found, name
        assert re.findall(r"\w+", found[1] + " " + found[2]) == list(kind.fields), name


# In the browser.


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def runs(program: str) -> bool:
    """Is it a browser? Some systems have a stand-in of this name that only says how to install one."""
    return subprocess.run([program, "--version"], capture_output=True, timeout=60).returncode == 0


@pytest.fixture(scope="module")
def browser():
    program = next(filter(runs, filter(None, map(shutil.which, BROWSERS))), None)
    if program is None:
        pytest.skip("no Chromium on PATH (Debian: apt-get install chromium): the page is not tried in a browser")
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright drives the browser")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@contextmanager
def a_server(**environment: str) -> Iterator[str]:
    """One of our own on loopback; its address."""
    pytest.importorskip("fastapi", reason="the service needs pip install 'egam[serve]'")
    port = free_port()
    command = [sys.executable, "-m", "egam", "serve", "--port", str(port), "--log-level", "warning"]
    settings = {**os.environ, **environment}
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=settings)
    url = f"http://127.0.0.1:{port}/"
    try:
        wait_until_healthy(server, url)
        yield url
    finally:
        server.terminate()
        server.communicate(timeout=30)


@pytest.fixture(scope="module")
def address(browser):
    with a_server() as url:
        yield url


def wait_until_healthy(server: subprocess.Popen, url: str) -> None:
    for _ in range(600):
        assert server.poll() is None, server.stderr.read()
        try:
            with urllib.request.urlopen(url + "health", timeout=10) as reply:
                assert reply.status == 200
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    pytest.fail("the server did not come up within a minute")


class Watch:
    """What a page must not do, seen from outside: ask other hosts, leave errors in the console."""

    def __init__(self, page) -> None:
        self.hosts: set[str] = set()
        self.errors: list[str] = []
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.note(message))

    def note(self, message) -> None:
        refused = re.search(r"status of 4\d\d", message.text)  # the browser's own line about an answer we provoke
        if message.type in ("error", "warning") and not refused:
            self.errors.append(message.text)

    def check(self, address: str) -> None:
        assert self.hosts - {""} == {urlsplit(address).netloc}
        assert not self.errors
        self.hosts.clear()


def new_page(browser, width: int, height: int, **options):
    options.setdefault("reduced_motion", "reduce")
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(30_000)
    page = context.new_page()
    return page, Watch(page)


def load(page, address: str) -> None:
    page.goto(address)
    page.locator("html[data-ready]").wait_for()


@pytest.fixture(scope="module")
def desk(browser):
    """One window for most tests: a new one for each would take most of the time."""
    page, watch = new_page(browser, 1440, 900, permissions=["clipboard-read", "clipboard-write"])
    yield page, watch
    page.context.close()


@pytest.fixture
def page(desk, address):
    """The page, loaded anew, on a desk."""
    page, watch = desk
    load(page, address)
    yield page
    watch.check(address)


@pytest.fixture
def open_page(browser, address):
    """A function that opens the page in a window of another kind."""
    opened = []

    def open_one(width=1440, height=900, **options):
        page, watch = new_page(browser, width, height, **options)
        opened.append((page, watch))
        load(page, address)
        return page

    yield open_one
    for page, watch in opened:
        page.context.close()
        watch.check(address)


def solve(page, panels: int = 1) -> None:
    page.click("#solve")
    page.locator(".panel[data-state=done]").nth(panels - 1).wait_for()


def give(page, name: str, text: str) -> None:
    """Choose a file, and wait until its name is said."""
    page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": text.encode()})
    page.locator("#said", has_text=f"{name}: ").wait_for(state="attached")


def drop(page, name: str, text: str) -> None:
    """Let a file fall onto the map."""
    script = """([name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        const map = document.querySelector('.map');
        for (const kind of ['dragover', 'drop'])
            map.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
    }"""
    page.evaluate(script, [name, text])


def coords(page) -> list[tuple[float, float]]:
    """Of all stops, as the table has them."""
    xs = page.locator("[data-key=x]").evaluate_all("cells => cells.map(cell => Number(cell.value))")
    ys = page.locator("[data-key=y]").evaluate_all("cells => cells.map(cell => Number(cell.value))")
    return list(zip(xs, ys, strict=True))


def visits(page) -> list[int]:
    rows = page.locator(".timetable").first.locator("tr[data-node]")
    return rows.evaluate_all("rows => rows.map(row => Number(row.dataset.node))")


def cost(page, panel: int = 0) -> float:
    return float(page.locator(".cost").nth(panel).inner_text().replace(",", ""))


def fill_of(page, node: int) -> str:
    return page.locator(f".stop[data-node='{node}'] .body").evaluate("body => getComputedStyle(body).fill")


def test_click_stops_and_solve(page):
    page.click("#clear")
    box = page.locator(".map").bounding_box()
    for across, down in ((0.5, 0.5), (0.2, 0.3), (0.8, 0.25), (0.75, 0.8), (0.25, 0.7)):
        page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])
    assert page.locator(".stop").count() == 5
    places = coords(page)
    solve(page)

    order = visits(page)
    assert sorted(order) == [1, 2, 3, 4]
    tour = [0, *order, 0]
    length = sum(math.dist(places[a], places[b]) for a, b in pairwise(tour))
    assert cost(page) == pytest.approx(length, abs=0.006)  # shown with two digits
    assert page.locator(".badge").inner_text() == "feasible"
    assert page.locator(".stop.served").count() == 4
    assert fill_of(page, 0) == "rgb(0, 138, 100)"  # green: the start
    assert fill_of(page, 1) == "rgb(0, 114, 178)"  # blue: served
    assert page.locator(".legs .route").get_attribute("d").count("L") == 5  # four stops and home


def test_drag_delete_and_take_back(page):
    before = coords(page)
    marker = page.locator(".stop[data-node='3']")
    box = marker.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y - 20, steps=4)
    page.mouse.up()
    after = coords(page)
    assert after[3][0] > before[3][0] and after[3][1] > before[3][1]  # right and up
    assert [*after[:3], *after[4:]] == [*before[:3], *before[4:]]
    assert page.locator(".stop").count() == 21  # a drag places nothing

    page.get_by_role("button", name="Remove stop 3").click()
    assert coords(page) == [*after[:3], *after[4:]]
    page.click("#undo")
    assert coords(page) == after
    page.click("#undo")
    assert coords(page) == before
    assert page.locator("#undo").is_disabled()


def test_random_is_seeded_and_has_the_size_asked_for(page):
    page.fill("#count", "7")
    page.fill("#seed", "5")
    page.click("#random")
    first = coords(page)
    assert len(first) == 8  # the start and seven
    page.fill("#seed", "6")
    page.click("#random")
    assert coords(page) != first
    page.fill("#seed", "5")
    page.click("#random")
    assert coords(page) == first


def test_drop_a_file(page):
    drop(page, "rectangle.tsp", RECTANGLE)
    page.locator("#said", has_text="rectangle.tsp: 3 stops").wait_for(state="attached")
    assert coords(page) == [(0, 0), (30, 0), (30, 40), (0, 40)]
    solve(page)
    assert cost(page) in (140, 160, 180)
    assert page.locator("#error").is_hidden()


def test_files_of_every_kind(page):
    give(page, "two-routes.vrp", TWO_ROUTES)
    assert page.input_value("#problem") == "cvrp" and page.input_value("#capacity") == "10"
    solve(page)
    assert cost(page) == 140 and "2 routes" in page.locator(".about").inner_text()

    give(page, "r-three.txt", SOLOMON)
    assert page.input_value("#problem") == "vrptw"
    assert page.locator("[data-key=closes]").nth(1).input_value() == "100"
    assert "cannot be moved" in page.locator("#notice").inner_text()  # service times made it a table of costs
    assert page.locator("[data-key=x]").nth(1).is_disabled()

    page.select_option("#problem", "pctsp")
    page.fill("#min_prize", "11")
    page.locator("#min_prize").press("Tab")
    page.locator("summary", has_text="Reading files").click()
    page.select_option("#read-as", "chosen")
    give(page, "prizes.csv", CSV)
    assert page.locator("[data-key=name]").nth(1).input_value() == "mill"
    solve(page)
    assert cost(page) == 30 + 40 + 50  # all of the prize is needed, so both are visited

    page.select_option("#read-as", "")
    give(page, "late.json", json.dumps(LATE))
    assert page.input_value("#problem") == "tsptw"


def test_the_red_stop_and_why(page):
    give(page, "late.json", json.dumps(LATE))
    solve(page)
    assert page.locator(".badge").inner_text() == "not feasible"
    assert fill_of(page, 1) == "rgb(213, 32, 10)"  # red
    assert page.locator(".stop[data-node='1']").get_attribute("class") == "stop failed"
    sentence = page.locator(".timetable tr.wrong").inner_text()
    assert re.fullmatch(r"node 1 is reached at \d+, \d+ after its window closed at 4", sentence)
    assert sentence in page.locator(".reasons").inner_text()


def test_the_grey_stop(page):
    """Node 2 is so far away that going there costs more than its penalty, and node 1 has prize enough."""
    instance = {
        "problem": "pctsp",
        "coords": [[0, 0], [3, 4], [1000, 0]],
        "prize": [0, 5, 5],
        "penalty": [0, 50, 1],
        "min_prize": 5,
    }
    give(page, "far.json", json.dumps(instance))
    page.select_option("#first", "egam 8x20")
    solve(page)
    assert cost(page) == 5 + 5 + 1
    assert page.locator(".stop.unvisited").get_attribute("data-node") == "2"
    assert fill_of(page, 2) == "rgb(143, 153, 163)"  # grey
    assert page.locator("tr.unvisited .status").inner_text() == "not visited"


def test_the_sentence_of_an_error(page):
    page.select_option("#problem", "cvrp")
    page.get_by_label("Demand of stop 3").fill("99")
    page.click("#solve")
    page.locator("#error", has_text="demand of node 3 is 99, above capacity 30").wait_for()
    assert "99" in page.locator(".reasons").inner_text()
    page.get_by_label("Demand of stop 3").fill("9")
    solve(page)
    assert page.locator("#error").is_hidden()

    drop(page, "broken.tsp", RECTANGLE.replace("3 30 40", "3 30 forty"))
    page.locator("#error", has_text="broken.tsp:8: ").wait_for()
    assert page.locator(".stop").count() == 21  # what was there stays


def test_by_keyboard(page):
    """From an empty map to a solved route without a pointer."""
    keys = page.keyboard
    page.locator("#clear").focus()
    keys.press("Enter")
    page.locator(".map").focus()
    for arrow in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
        keys.press(f"Shift+{arrow}")
        keys.press("Enter")
    assert page.locator(".stop").count() == 4
    # Steps of a tenth of 100 from the middle (50, 50): a square of side 10.
    assert coords(page) == [(40, 50), (40, 60), (50, 60), (50, 50)]

    keys.press("Tab")
    assert page.evaluate("document.activeElement.dataset.node") == "0"
    outline = "getComputedStyle(document.activeElement.querySelector('.halo')).stroke"
    assert page.evaluate(outline) != "none"  # the focus can be seen
    keys.press("PageDown")
    keys.press("ArrowUp")
    assert coords(page)[1] == (40, 61)
    assert page.locator("#said").inner_text() == "x 40, y 61"
    keys.press("ArrowDown")
    keys.press("Control+Enter")
    page.locator("#said", has_text="cost ").wait_for(state="attached")
    assert cost(page) == 40
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Stop 1, x 40, y 60, served")

    keys.press("Enter")  # to its row
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "x of stop 1"
    page.locator(".stop[data-node='3']").focus()
    keys.press("Delete")
    assert coords(page) == [(40, 50), (40, 60), (50, 60)]
    assert page.evaluate("document.activeElement.dataset.node") == "2"
    keys.press("Control+z")
    assert page.locator(".stop").count() == 4


def test_every_control_has_a_name(page):
    page.select_option("#problem", "tsptw")
    unnamed = """() => [...document.querySelectorAll('button, input, select, a, [tabindex="0"]')].filter((element) =>
        !(element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.length)
    ).map((element) => element.outerHTML)"""
    assert page.evaluate(unnamed) == []


def test_on_a_phone(open_page):
    page = open_page(360, 740, has_touch=True, is_mobile=True)
    sideways = "document.documentElement.scrollWidth - window.innerWidth"
    for problem in KINDS:
        page.select_option("#problem", problem)
        assert page.evaluate(sideways) <= 0, problem
    page.select_option("#problem", "tsptw")
    page.locator(".map").tap(position={"x": 30, "y": 30})
    assert page.locator(".stop").count() == 22
    page.tap("#solve")
    page.locator(".panel[data-state=done]").wait_for()
    assert page.evaluate(sideways) <= 0
    assert page.locator("#solve").is_visible()
    small = """() => [...document.querySelectorAll('#controls button, #controls select')].filter((element) =>
        element.offsetHeight && element.offsetHeight < 36).length"""
    assert page.evaluate(small) == 0  # large enough for a thumb


def test_two_methods_side_by_side(page):
    page.select_option("#first", "egam greedy")
    page.select_option("#second", "egam 8x20")
    solve(page, panels=2)
    left, right = (page.locator(".panel").nth(k).bounding_box() for k in (0, 1))
    assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
    assert cost(page, 1) <= cost(page, 0) + 0.01  # 160 samples of which the best counts, against one
    said = page.locator("#compared").inner_text()
    assert re.search(r"cheaper than|both cost", said) and re.search(r"in \d+ ms|in [\d.]+ s", said)
    page.get_by_role("tab", name="Timetable · EGAM 8 × 20 samples").click()
    assert page.locator("#page-timetable-1 tr[data-node]").count() == 20


def test_with_a_time_limit_it_improves(page):
    page.fill("#time-limit", "1")
    solve(page)
    steps = page.locator(".steps").inner_text()
    told = re.match(r"Cost over time: ([\d.]+)(?: → ([\d.]+), \d+ improvements?| from the first)", steps)
    assert float(told[2] or told[1]) == cost(page) and float(told[1]) >= cost(page)

    page.fill("#time-limit", "50")
    page.click("#solve")
    page.locator(".badge.running", has_text=re.compile("first route|improved")).wait_for()  # while it runs
    assert page.locator(".stop.served").count() == 20
    page.click("#stop")
    page.locator(".panel[data-state=done]").wait_for()
    assert "best route so far" in page.locator(".panel .notes").inner_text()


def test_200_stops(page):
    page.fill("#count", "200")
    page.click("#random")
    page.select_option("#first", "egam greedy")
    solve(page)
    assert page.locator(".stop.served").count() == 200
    assert sorted(visits(page)) == list(range(1, 201))


def test_the_route_is_drawn_step_by_step(open_page):
    page = open_page(reduced_motion="no-preference")
    page.clock.install()
    page.clock.pause_at(time.time() + 3600)
    page.click("#solve")
    page.locator(".panel[data-state=done]").wait_for()
    seen = [page.locator(".stop.served").count()]
    for _ in range(4):
        page.clock.run_for(500)
        seen.append(page.locator(".stop.served").count())
    # 21 legs of 70 ms each: 1470 ms.
    assert seen[0] == 0 and 0 < seen[1] < seen[2] < seen[3] and seen[4] == 20


def test_what_can_be_taken_along(page, tmp_path):
    give(page, "two-routes.vrp", TWO_ROUTES)
    solve(page)
    saved = {}
    for label in ("Save the result as JSON", "Save the routes as .sol", "Save the map as SVG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        saved[path.suffix] = path.read_text()
    assert json.loads(saved[".json"])["cost"] == 140
    assert sorted(saved[".sol"].splitlines()[:2])[0].startswith("Route #1: ") and "Cost 140" in saved[".sol"]
    picture = ElementTree.fromstring(saved[".svg"])
    fills = [shape.get("fill") for shape in picture.iter("{http://www.w3.org/2000/svg}circle")]
    assert fills == ["rgb(0, 114, 178)"] * 2  # two served stops; the start is a square

    page.get_by_role("button", name="Copy this call as curl").click()
    page.locator("#said", has_text="copied as curl").wait_for(state="attached")
    line = page.evaluate("navigator.clipboard.readText()")
    if shutil.which("curl") and shutil.which("bash"):
        answer = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout
        assert json.loads(answer)["results"][0]["cost"] == 140
    page.get_by_role("button", name="Copy this call as Python").click()
    page.locator("#said", has_text="copied as Python").wait_for(state="attached")
    code = page.evaluate("navigator.clipboard.readText()")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0 and "140" in result.stdout, result.stderr


def test_light_and_dark(open_page):
    page = open_page(color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(14, 19, 25)"
    page.get_by_role("button", name="Switch to light colours").click()
    assert page.evaluate(paper) == "rgb(243, 245, 248)"
    page.reload()
    assert page.evaluate(paper) == "rgb(243, 245, 248)"  # the choice is kept


def test_a_server_that_wants_a_key(desk):
    page, watch = desk
    with a_server(EGAM_API_KEY="correct-horse") as url:
        watch.hosts.clear()
        load(page, url)
        assert page.locator("#key").is_hidden()
        page.click("#solve")
        page.locator("#error", has_text="the key is missing or wrong").wait_for()
        page.fill("#key", "correct-horse")
        solve(page)
        page.get_by_role("button", name="Copy this call as curl").click()
        page.locator("#said", has_text="copied as curl").wait_for(state="attached")
        line = page.evaluate("navigator.clipboard.readText()")
        assert "Bearer $EGAM_API_KEY" in line and "correct-horse" not in line
        watch.check(url)
        page.goto("about:blank")  # no connection stays open that the server would wait for


@pytest.mark.slow
def test_pictures(open_page, tmp_path):
    """Those of docs/page.md, kept if EGAM_PICTURES names a folder."""
    folder = Path(os.environ.get("EGAM_PICTURES", tmp_path))

    def keep(page, name: str) -> None:
        path = folder / f"page-{name}.png"
        page.evaluate("document.activeElement?.blur(); window.getSelection().removeAllRanges()")
        if name != "phone":
            page.evaluate("window.scrollTo(0, 0)")
        page.mouse.move(2, 2)
        page.screenshot(path=path)
        assert 10_000 < path.stat().st_size < PICTURE_BYTES

    page = open_page(1250, 780)
    page.select_option("#problem", "tsptw")
    page.click("#random")
    solve(page)
    keep(page, "light")
    page.fill("#count", "200")
    page.select_option("#problem", "tsp")
    page.select_option("#first", "egam greedy")
    page.click("#random")
    solve(page)
    keep(page, "200-stops")

    page = open_page(1250, 780, color_scheme="dark")
    page.select_option("#problem", "cvrp")
    page.fill("#seed", "3")
    page.click("#random")
    page.select_option("#first", "egam greedy")
    page.select_option("#second", "egam 8x20")
    solve(page, panels=2)
    keep(page, "dark-two-methods")

    page = open_page(360, 740, has_touch=True, is_mobile=True)
    page.select_option("#problem", "vrptw")
    page.click("#random")
    solve(page)
    keep(page, "phone")
