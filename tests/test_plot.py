"""Pictures are looked at by their content: what is drawn where, in which colour, and what a written file holds."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from egam import BadInput, Instance, Solution, judge
from egam.plot import colours, draw, save
from egam.plot.layout import lay_out, limits, place_labels, same_places, scaled_map, spread, stop_label

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10), (5, 5)]
TOUR = Solution.of([[1, 2, 3, 4]])


def vrptw() -> Instance:
    """0-1 takes 10 (window 0-20, served), 1-2 takes 10 (window 0-15: 5 late), 3 and 4 are left out."""
    return Instance.vrptw(SQUARE, window=[(0, 100), (0, 20), (0, 15), (50, 60), (70, 80)])


def cvrp(**more) -> Instance:
    return Instance.cvrp(SQUARE, demand=[0, 3, 3, 3, 3], capacity=7, **more)


EXAMPLES = {
    "tsp": (Instance.tsp(SQUARE), TOUR),
    "atsp": (Instance.atsp(matrix=[[0, 1, 2, 3], [4, 0, 1, 2], [3, 4, 0, 1], [2, 3, 4, 0]]), Solution.of([[1, 2, 3]])),
    "cvrp": (cvrp(), Solution.of([[1, 2], [3, 4]])),
    "pctsp": (
        Instance.pctsp(SQUARE, prize=[0, 1, 1, 1, 1], penalty=[0, 1, 2, 3, 4], min_prize=2),
        Solution.of([[1, 2]]),
    ),
    "tsptw": (Instance.tsptw(SQUARE, window=[(0, 100)] * 5), TOUR),
    "tspdl": (Instance.tspdl(SQUARE, demand=[0, 1, 1, 1, 1], draft_limit=[4, 4, 2, 4, 4]), TOUR),
    "vrptw": (vrptw(), Solution.of([[1, 2]])),
}


def drawn(ax, gid: str) -> list:
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


def legs(ax) -> list[str]:
    return [artist.get_gid() for artist in ax.get_children() if str(artist.get_gid()).startswith("leg-")]


def dots(ax, gid: str) -> set[tuple[float, float]]:
    return {tuple(map(float, place)) for artist in drawn(ax, gid) for place in artist.get_offsets()}


def colour(ax, gid: str) -> str:
    (artist,) = drawn(ax, gid)
    return to_hex(artist.get_facecolor()[0]).upper()


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def strip_of(ax):
    (below,) = [other for other in ax.figure.axes if other is not ax]
    return below


# ---- the map ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", EXAMPLES)
def test_one_arrow_per_leg_and_a_green_start(problem):
    instance, solution = EXAMPLES[problem]
    ax = draw(instance, solution)
    expected = [f"leg-{a}-{b}" for route in solution.routes for a, b in zip((0, *route), (*route, 0), strict=True)]
    assert legs(ax) == expected
    assert colour(ax, "start") == colours.START
    if instance.coords is not None:
        assert dots(ax, "start") == {(0.0, 0.0)}


def test_vrptw_is_blue_where_served_red_where_late_and_grey_where_not_visited():
    ax = draw(vrptw(), Solution.of([[1, 2]]))
    assert (dots(ax, "served"), colour(ax, "served")) == ({(10.0, 0.0)}, colours.SERVED)
    assert (dots(ax, "failed"), colour(ax, "failed")) == ({(10.0, 10.0)}, colours.FAILED)
    assert (dots(ax, "unvisited"), colour(ax, "unvisited")) == ({(0.0, 10.0), (5.0, 5.0)}, colours.UNVISITED)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["start", "served in time", "too late", "not visited"]
    assert "vrptw · 5 nodes · 1 of 4 served · cost 3 · length 34.1421 · feasible" in texts(ax)  # 10 + 10 + 10 √2


def test_routes_differ_in_colour_and_carry_their_number():
    ax = draw(*EXAMPLES["cvrp"])
    assert dots(ax, "route-1") == {(10.0, 0.0), (10.0, 10.0)} and dots(ax, "route-2") == {(0.0, 10.0), (5.0, 5.0)}
    assert colour(ax, "route-1") != colour(ax, "route-2")
    badges = {text.get_text(): text.xy for text in ax.texts if text.get_fontweight() == "bold"}
    assert badges == {"1": (10.0, 10.0), "2": (0.0, 10.0)}  # the farthest stop of each
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["depot", "route 1, 2 stops", "route 2, 2 stops"]


def test_many_routes_differ_in_a_second_way():
    styles = [colours.route_style(number) for number in range(24)]
    assert len(set(styles)) == 24
    assert styles[0][0] == styles[6][0] and styles[0][1] != styles[6][1] and styles[0][2] != styles[6][2]
    instance = Instance.cvrp(np.random.default_rng(0).random((31, 2)), demand=[0] + [1] * 30, capacity=1)
    ax = draw(instance, Solution.of([[node] for node in range(1, 31)]))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(names) == 14 and names[-1] == "… 30 routes"
    assert {text.get_text() for text in ax.texts if text.get_fontweight() == "bold"} >= {"1", "15", "30"}


def test_penalties_are_areas():
    ax = draw(*EXAMPLES["pctsp"])
    (visited,), (left_out,) = drawn(ax, "served"), drawn(ax, "unvisited")
    small, large = visited.get_sizes()
    assert large > small and left_out.get_sizes().min() > large  # penalties 1 and 2, then 3 and 4
    assert "area: penalty for leaving out" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_broken_rules_get_a_ring_and_a_sentence():
    solution = Solution.of([[1, 2, 3], [1, 9]])  # 9 of 7 loaded at node 3; node 1 twice; 4 left out; no node 9
    ax = draw(cvrp(name="Monday"), solution)
    assert dots(ax, "rule broken") == {(10.0, 0.0), (0.0, 10.0), (5.0, 5.0)}
    verdict = judge(cvrp(), solution)
    assert [violation.kind for violation in verdict.violations] == ["unknown", "repeated", "unvisited", "overload"]
    assert verdict.violations[0].text in texts(ax) and verdict.violations[1].text in texts(ax)
    assert f"{verdict.violations[2].text}; and 1 more" in texts(ax)
    assert any("NOT FEASIBLE, 4 rules broken" in text for text in texts(ax))
    assert ax.get_title(loc="left") == "Monday"


def test_sentences_call_stops_by_their_names():
    instance = cvrp(names=["depot", "Anna", "Ben", "Cleo", "Dan"])
    assert "Dan is not visited" in texts(draw(instance, Solution.of([[1, 2], [3]])))


def test_a_given_verdict_is_believed_and_a_given_title_is_the_title():
    instance, solution = EXAMPLES["tsp"]
    verdict = judge(instance, Solution.of([[1, 2]]))  # 3 and 4 are missing there
    ax = draw(instance, solution, verdict=verdict, title="my $5 title$")
    assert dots(ax, "unvisited") == {(0.0, 10.0), (5.0, 5.0)}
    assert ax.get_title(loc="left") == "my $5 title$"


def test_nothing_visited():
    ax = draw(vrptw(), Solution.of([]))
    assert legs(ax) == [] and len(dots(ax, "unvisited")) == 4 and not drawn(ax, "served")
    assert len(drawn(strip_of(ax), "unvisited window")) == 1 and not drawn(strip_of(ax), "window")


def test_places_that_coincide_share_a_label_and_have_no_arrow_between():
    instance = Instance.tsp([(0, 0), (1, 0), (1, 0), (1, 1), (0, 0)])
    ax = draw(instance, TOUR)
    assert legs(ax) == ["leg-0-1", "leg-2-3", "leg-3-4"]
    assert {"0, 4", "1, 2", "3"} <= set(texts(ax))


@pytest.mark.parametrize("coords", [[(k, 2 * k) for k in range(5)], [(7, k) for k in range(5)], [(1, 1)] * 5])
def test_stops_on_a_line_or_in_one_place(coords):
    ax = draw(Instance.tsp(coords), TOUR)
    arcs = [artist for artist in ax.patches + ax.artists if str(artist.get_gid()).startswith("leg-")]
    assert all("Arc3" in type(arc.get_connectionstyle()).__name__ for arc in arcs)
    assert all(arc.get_connectionstyle().rad > 0 for arc in arcs)  # else the way back would hide the way out
    assert len(legs(ax)) == (0 if coords[0] == coords[1] else 5)
    left, right = ax.get_xlim()
    bottom, top = ax.get_ylim()
    assert all(left < x < right and bottom < y < top for x, y in coords)


def test_labels_thin_out_and_markers_shrink_with_many_stops():
    rng = np.random.default_rng(1)
    axes = {}
    for size in (20, 80, 300):
        coords = rng.normal(size=(size, 2)) ** 3  # most of them crowd in the middle
        axes[size] = draw(Instance.tsp(coords), Solution.of([sorted(range(1, size), key=lambda node: coords[node, 0])]))
    area = {size: drawn(ax, "served")[0].get_sizes()[0] for size, ax in axes.items()}
    assert area[20] > 2 * area[80] > 4 * area[300]
    labels = {size: sum(text.get_text().isdigit() for text in ax.texts) for size, ax in axes.items()}
    assert labels[20] > 10 and labels[80] > 20 and 40 < labels[300] < 200


def test_no_two_labels_overlap():
    instance = Instance.tsp(np.random.default_rng(2).random((120, 2)))
    ax = draw(instance, Solution.of([range(1, 120)]))
    figure = ax.figure
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text().isdigit()]
    assert len(boxes) > 40
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


# ---- positions --------------------------------------------------------------------------------------------------


def test_a_matrix_of_distances_is_laid_out_as_it_was():
    points = np.random.default_rng(3).random((12, 2))
    travel = np.linalg.norm(points[:, None] - points[None], axis=2)
    positions, error = scaled_map(travel)
    assert error < 1e-6
    np.testing.assert_allclose(np.linalg.norm(positions[:, None] - positions[None], axis=2), travel, atol=1e-9)


def test_a_layout_without_coordinates_says_so_and_how_far_it_is_off():
    # Three places, each 1 from the others, and one at 1 from all: a tetrahedron, which no plane holds.
    layout = lay_out(Instance.tsp(matrix=np.ones((4, 4)) - np.eye(4)))
    assert "No coordinates given" in layout.note and "MDS" in layout.note and " 0 %" not in layout.note
    ax = draw(*EXAMPLES["atsp"])
    assert any(text.startswith("No coordinates given") for text in texts(ax))
    assert len(ax.get_xticks()) == 0
    assert not any("MDS" in text for text in texts(draw(*EXAMPLES["tsp"])))


def test_longitudes_and_latitudes_keep_their_proportions():
    instance = Instance.tsp([(10, 60), (11, 60), (10, 59.5), (11, 60.5)], geographic=True)
    ax = draw(instance, Solution.of([[1, 2, 3]]))
    assert ax.get_aspect() == pytest.approx(2.0)  # 1 / cos 60°
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("longitude", "latitude")
    across = Instance.tsp([(179, 0), (-179, 0), (178, 1)], geographic=True)
    assert np.ptp(lay_out(across).positions[:, 0]) == pytest.approx(3.0)


def test_limits_hold_all_stops_undistorted():
    layout = lay_out(Instance.tsp(SQUARE))
    (left, right), (bottom, top) = limits(layout, 2.0)
    assert (right - left) / (top - bottom) == pytest.approx(2.0)
    assert top - bottom == pytest.approx(10 * 1.12)  # the side and a margin of 6 % on either side


def test_helpers():
    assert same_places(np.array([[0, 0], [1, 0], [0, 0]])) == [[0, 2], [1]]
    assert spread(10, 5) == [0, 2, 4, 6, 8]
    assert spread(10, 5, first=[3]) == [0, 3, 6, 8]  # 2 and 4 are too near to 3
    instance = Instance.tsp(SQUARE, names=["a", "b", "a name that goes on and on", "d", "e"])
    assert stop_label(instance, 2) == "a name that goes…" and stop_label(instance, 1) == "b"


def test_a_label_goes_where_it_crosses_least():
    spot, size = np.array([[50.0, 50.0]]), np.array([[10.0, 6.0]])
    line = np.column_stack([np.linspace(50, 90, 11), np.linspace(50, 90, 11)])  # to the upper right
    nothing = np.empty((0, 2))

    def place(lines, frame=(100, 100), most=np.inf, stops=spot):
        return place_labels(spot, size, np.array([3.0]), stops, 2.0, lines, frame, most)

    assert place(nothing) == [(1, 1)]
    assert place(line) == [(-1, 1)]
    assert place(nothing, frame=(55, 55)) == [(-1, -1)]  # no room above, nor to the right
    around = np.array([[50.0, 50.0], [42.0, 46.0], [42.0, 50.0], [50.0, 44.0]])
    assert place(nothing, frame=(52, 52), stops=around) == [None]


# ---- the strip --------------------------------------------------------------------------------------------------


def test_windows_arrivals_waiting_and_lateness():
    # 0-1: 10, wait to 15; 1-2: at 25, closed at 20, so 5 late; 2-3: at 35 in time; 3-4: 5 √2 on, at 42.07
    window = [(0, 100), (15, 30), (0, 20), (30, 50), (0, 60)]
    ax = draw(Instance.tsptw(SQUARE, window=window), TOUR)
    below = strip_of(ax)

    def bars(gid):
        (lines,) = drawn(below, gid)
        return [tuple(np.round(segment, 4).ravel()) for segment in lines.get_segments()]

    assert bars("window") == [(1, 15, 1, 30), (2, 0, 2, 20), (3, 30, 3, 50), (4, 0, 4, 60)]
    assert bars("waiting") == [(1, 10, 1, 15)]
    assert bars("late") == [(2, 20, 2, 25)]
    assert to_hex(drawn(below, "late")[0].get_colors()[0]).upper() == colours.FAILED
    arrivals = sorted(dots(below, "arrival") | dots(below, "late arrival"))
    np.testing.assert_allclose(arrivals, [(1, 10), (2, 25), (3, 35), (4, 35 + 50**0.5)])
    ticks = {text.get_text(): to_hex(text.get_color()).upper() for text in below.get_xticklabels()}
    assert list(ticks) == ["1", "2", "3", "4"] and ticks["2"] == colours.FAILED != ticks["1"]


def test_windows_without_an_end_do_not_stretch_the_axis():
    ax = draw(Instance.tsptw(SQUARE, window=[(0, 1e9), (0, 1e9), (20, 40), (30, 50), (0, 1e9)]), TOUR)
    assert strip_of(ax).get_ylim()[1] < 60


def test_narrow_windows_are_drawn_from_their_opening():
    window = [(0, 1000), (9, 11), (500, 502), (600, 603), (700, 702)]
    below = strip_of(draw(Instance.vrptw(SQUARE, window=window), TOUR))
    (lines,) = drawn(below, "window")
    found = [tuple(segment.ravel()) for segment in lines.get_segments()]
    assert found == [(1, 0, 1, 2), (2, 0, 2, 2), (3, 0, 3, 3), (4, 0, 4, 2)]
    assert below.get_title(loc="left") == "time after opening"
    assert len(dots(below, "early arrival")) == 3  # hundreds too early: at the lower edge
    assert dots(below, "arrival") == {(1.0, 1.0)}


def test_what_is_not_visited_stands_at_the_end_in_grey():
    below = strip_of(draw(vrptw(), Solution.of([[1, 2]])))
    (lines,) = drawn(below, "unvisited window")
    assert [tuple(segment.ravel()) for segment in lines.get_segments()] == [(3, 50, 3, 60), (4, 70, 4, 80)]
    assert below.get_xlabel() == "stops in the order of visits, then those not visited"


def test_loads_per_route_against_the_capacity():
    below = strip_of(draw(cvrp(), Solution.of([[1, 2, 3], [4]])))
    assert [list(drawn(below, f"load-{number}")[0].get_data().values) for number in (1, 2)] == [[3, 6, 9], [3]]
    assert [line.get_xdata()[0] for line in drawn(below, "border")] == [3.5]
    assert drawn(below, "capacity")[0].get_ydata() == [7, 7]
    (over,) = drawn_bars(below, "too much")
    assert (over.get_y(), over.get_height()) == (7, 2)
    assert to_hex(over.get_facecolor()).upper() == colours.FAILED


def drawn_bars(ax, gid):
    return [bar for bar in ax.patches if bar.get_gid() == gid]


def test_load_against_draft_limits():
    # Node 2 is the third visit: load 3, limit 2.
    instance, _ = EXAMPLES["tspdl"]
    ax = draw(instance, Solution.of([[1, 3, 2, 4]]))
    below = strip_of(ax)
    assert list(drawn(below, "load-1")[0].get_data().values) == [1, 2, 3, 4]
    (over,) = drawn_bars(below, "too much")
    assert (over.get_x() + 0.5, over.get_y(), over.get_height()) == (3, 2, 1)
    assert dots(ax, "failed") == {(10.0, 10.0)} and not drawn(ax, "rule broken")  # the red cross says it already


def test_prize_so_far_against_what_is_needed():
    below = strip_of(draw(*EXAMPLES["pctsp"]))
    assert list(drawn(below, "load-1")[0].get_data().values) == [1, 2]
    assert drawn(below, "min prize")[0].get_ydata() == [2, 2]


def test_no_strip_without_need():
    assert len(draw(*EXAMPLES["tsp"]).figure.axes) == 1
    assert len(draw(*EXAMPLES["cvrp"], strip=False).figure.axes) == 1


# ---- on a given axis --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_draws_on_a_given_axis_and_takes_its_lower_part_only(layout):
    figure = Figure(figsize=(12, 6), layout=layout)
    left, right = figure.subplots(1, 2)
    before = left.get_position().bounds
    assert draw(*EXAMPLES["cvrp"], ax=left) is left
    figure.draw_without_rendering()
    assert len(figure.axes) == 3
    upper, lower = left.get_position(), figure.axes[2].get_position()
    assert lower.y1 < upper.y0
    if layout is None:
        assert upper.x1 <= before[0] + before[2] + 1e-9 and lower.y0 >= before[1] - 1e-9
    assert not right.has_data()


def test_draws_on_an_axis_outside_any_grid():
    figure = Figure()
    ax = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    draw(*EXAMPLES["tspdl"], ax=ax)
    assert figure.axes[1].get_position().y1 < ax.get_position().y0


# ---- files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", EXAMPLES)
def test_png_of_every_problem_shows_something(problem, tmp_path):
    from matplotlib.image import imread

    path = tmp_path / f"{problem}.png"
    save(path, *EXAMPLES[problem], dpi=60)
    pixels = imread(path)[..., :3]
    assert pixels.shape[0] > 300 and pixels.shape[1] > 300
    for wanted in (colours.START, colours.SERVED):
        rgb = np.array([int(wanted[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        assert (np.abs(pixels - rgb).max(-1) < 0.02).sum() > 20, wanted
    assert (pixels.min(-1) > 0.99).mean() > 0.5
    assert (pixels[[0, -1]] > 0.99).all() and (pixels[:, [0, -1]] > 0.99).all()  # nothing is cut off


def test_svg_holds_names_as_text(tmp_path):
    names = ["depot", "Müller & Sons", "<b>", "$4$", "x_1"]
    save(tmp_path / "names.svg", cvrp(names=names), Solution.of([[1, 2], [3, 4]]))
    text = (tmp_path / "names.svg").read_text()
    for shown in ("Müller &amp; Sons", "&lt;b&gt;", "$4$", "x_1", ">depot<", "2 routes · cost"):
        assert shown in text, shown
    assert text.count(">$4$<") == 2  # on the map and below the strip, never as mathematics
    assert "<dc:date>" not in text


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".PNG"])
def test_same_bytes_twice_whatever_the_user_has_set(suffix, tmp_path):
    import matplotlib

    paths = [tmp_path / f"{name}{suffix}" for name in ("first", "second")]
    save(paths[0], *EXAMPLES["vrptw"], title="same")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "black", "svg.fonttype": "path"}):
        save(paths[1], *EXAMPLES["vrptw"], title="same")
        assert matplotlib.rcParams["svg.fonttype"] == "path"
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    magic = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix.lower()]
    assert first.startswith(magic)


def test_threads_write_the_same_as_one(tmp_path):
    save(tmp_path / "alone.svg", *EXAMPLES["cvrp"])
    threads = [
        threading.Thread(target=save, args=(tmp_path / f"{number}.svg", *EXAMPLES["cvrp"])) for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(tmp_path / f"{number}.svg").read_bytes() for number in range(4)} == {(tmp_path / "alone.svg").read_bytes()}


@pytest.mark.parametrize("name", ["tour.jpg", "tour", "tour.png.gz"])
def test_unknown_endings_are_refused(name, tmp_path):
    with pytest.raises(BadInput, match=r"accepted are \.png, \.svg, \.pdf"):
        save(tmp_path / name, *EXAMPLES["tsp"])
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(BadInput, match="cannot be written, as there is no folder"):
        save(tmp_path / "missing" / "tour.png", *EXAMPLES["tsp"])
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_one_sentence_names_the_install_line():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from egam import Instance, NotInstalled, Solution\n"
        "from egam.plot import draw, save\n"
        "case = Instance.tsp([(0, 0), (1, 0), (0, 1)]), Solution.of([[1, 2]])\n"
        "for call in (lambda: draw(*case), lambda: save('x.png', *case)):\n"
        "    try: call()\n"
        "    except NotInstalled as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.count("pip install 'egam[plot]'") == 2, result.stderr
    assert not Path("x.png").exists()


def test_plots_need_neither_torch_nor_pyplot():
    code = (
        "import sys; from egam import Instance, Solution; from egam.plot import draw\n"
        "draw(Instance.tsp([(0, 0), (1, 0), (0, 1)]), Solution.of([[1, 2]]))\n"
        "assert not {'torch', 'matplotlib.pyplot'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# ---- colours ----------------------------------------------------------------------------------------------------

MACHADO = {  # severity 1.0, linear RGB; Machado, Oliveira, Fernandes 2009
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def seen(colour_name: str, sight: str) -> np.ndarray:
    """CIE L*a*b* (D65) of a colour as such an eye sees it."""
    rgb = np.array([int(colour_name[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(MACHADO[sight]) @ linear, 0, 1) if sight in MACHADO else linear
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    t = np.array(to_xyz) @ linear / [0.9505, 1.0, 1.089]
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", ["normal", *MACHADO])
@pytest.mark.parametrize(
    "palette", [(colours.START, colours.SERVED, colours.FAILED, colours.UNVISITED), (*colours.ROUTE_COLOURS, "#FFFFFF")]
)
def test_colours_stay_apart_for_every_eye(palette, sight):
    points = [seen(name, sight) for name in palette]
    apart = {
        (palette[a], palette[b]): float(np.linalg.norm(points[a] - points[b]))
        for a in range(len(palette))
        for b in range(a)
    }
    assert min(apart.values()) > 12, min(apart, key=apart.get)  # a difference of 2 is just noticeable side by side
