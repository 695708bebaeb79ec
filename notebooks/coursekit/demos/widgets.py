"""Puts a demo's picture on a page with its scenes above and its controls below, all in large type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as ipw

from coursekit.demos.frame import (
    Again,
    Choice,
    Control,
    Demo,
    Faders,
    Labels,
    Paint,
    Scene,
    Settings,
    Slider,
    Steps,
    Ticks,
    Words,
)
from coursekit.demos.svg import ABOVE, HEIGHT, LEFT, WIDTH

_STYLE = """<style>
.ckd-stage{--ckd-rest:max(240px,33vh);--ckd-type:clamp(18px,min(1.6vw,2.8vh),32px);
--jp-widgets-font-size:var(--ckd-type);--jp-widgets-inline-height:calc(var(--ckd-type) * 2);
--jp-widgets-inline-label-width:auto;
--jp-widgets-slider-handle-size:calc(var(--ckd-type) * 1.2);--jp-widgets-slider-track-thickness:6px;max-width:2200px;overflow:hidden;
padding:4px 2px}
.ckd-stage.ckd-faders{--ckd-rest:max(350px,46vh)}
body:has(#jp-main-dock-panel) .ckd-stage{--ckd-rest:370px}
body:has(#jp-main-dock-panel) .ckd-stage.ckd-faders{--ckd-rest:480px}
.ckd-stage .widget-html,.ckd-stage .widget-html-content{line-height:normal;height:auto;margin:0}
.ckd-stage .ckd-picture,.ckd-stage .ckd-picture .widget-html-content{width:100%}
.ckd-stage .ckd-screen{position:relative;overflow:visible;min-width:560px;
width:min(100%,calc((100vh - var(--ckd-rest)) * 1.97))}
.ckd-stage svg.ckd{display:block;width:100%;border-radius:6px}
.ckd-stage .ckd-over{position:absolute!important;overflow:visible;margin:0}
.ckd-stage .ckd-over button.jupyter-button{width:100%;height:100%;margin:0;padding:0;min-width:0;border:0;
background:transparent;color:transparent;font-size:1px;overflow:hidden;box-shadow:none;border-radius:4px;cursor:pointer;outline-offset:-3px}
.ckd-stage .ckd-over button.jupyter-button.mod-active{outline:none}
.ckd-stage .ckd-over button.jupyter-button:hover,.ckd-stage .ckd-over button.jupyter-button:focus-visible{
outline:4px solid #E69F00}
.ckd-stage .widget-label{font-size:var(--ckd-type);margin-right:12px;text-align:left;width:auto;min-width:max-content}
.ckd-stage .widget-readout{font-size:var(--ckd-type);min-width:3.6em}
.ckd-stage button.jupyter-button{font-size:calc(var(--ckd-type) * .95);padding:0 .8em;width:auto;min-width:44px;border-radius:6px;
border:1px solid var(--jp-border-color1,#8a97a3)}
.ckd-stage button.jupyter-button.mod-active{outline:3px solid var(--jp-ui-font-color1,#1f2933);outline-offset:-3px;
font-weight:700}
.ckd-stage button:focus-visible,.ckd-stage input:focus-visible,.ckd-stage .noUi-handle:focus-visible{
outline:3px solid #E69F00;outline-offset:2px}
.ckd-stage .ckd-cell button.jupyter-button{padding:0;min-width:0;width:40px;height:34px;line-height:32px;margin:1px}
.ckd-stage .ckd-scenes button.jupyter-button{background:transparent;font-size:calc(var(--ckd-type) * .86);
padding:0 .7em;height:2.1em;line-height:2em;color:var(--jp-content-font-color1,#1f2933)}
.jp-Notebook:has(.ckd-stage) .jp-RenderedMarkdown{font-size:clamp(18px,min(1.6vw,2.8vh),32px);line-height:1.4;padding-top:0;padding-bottom:0}
.jp-Notebook:has(.ckd-stage) .jp-RenderedMarkdown h1{font-size:1.3em;margin:0 0 2px;font-weight:700}
.jp-Notebook:has(.ckd-stage) .jp-RenderedMarkdown p{margin:0 0 2px}
.ckd-stage .widget-toggle-buttons{display:flex!important;flex-flow:row nowrap!important;align-items:center;width:auto}
.ckd-stage .widget-text input{font-size:var(--ckd-type);height:2em}
.ckd-stage .widget-dropdown select{font-size:var(--ckd-type);height:2em}
</style>"""

_ROW = {"flex_flow": "row wrap", "align_items": "center", "margin": "2px 0"}


def show(demo: Demo) -> ipw.VBox:
    """The demo as a widget; the last line of its notebook's cell."""
    return Stage(demo).box


class Stage:
    """A demo on show: ``box`` is the widget, ``settings`` what the picture shows, ``go`` sets a scene."""

    def __init__(self, demo: Demo):
        self.demo = demo
        self.settings: dict[str, Any] = demo.settings()
        self._quiet = False
        self.screen = ipw.HTML()
        self.screen.add_class("ckd-picture")
        self.panels = [_panel(control, self._moved, self.settings) for control in demo.controls]
        self._scenes = [self._scene_button(i, scene) for i, scene in enumerate(demo.scenes)]
        scenes = ipw.HBox(self._scenes, layout=ipw.Layout(**_ROW))
        scenes.add_class("ckd-scenes")
        over = [panel.box for panel in self.panels if "ckd-over" in panel.box._dom_classes]
        controls = ipw.HBox(
            [panel.box for panel in self.panels if panel.box not in over], layout=ipw.Layout(**_ROW)
        )
        screen = ipw.Box([self.screen, *over])
        screen.add_class("ckd-screen")
        self.box = ipw.VBox([ipw.HTML(_STYLE), scenes, screen, controls])
        self.box.add_class("ckd-stage")
        if any(isinstance(control, Faders) for control in demo.controls):
            self.box.add_class("ckd-faders")
        self._draw()

    def _scene_button(self, i: int, scene: Scene) -> ipw.ToggleButton:
        button = ipw.ToggleButton(
            value=i == 0, description=f"{i + 1} · {scene.name}", tooltip=f"Scene {i + 1}: {scene.name}"
        )
        button.observe(lambda change: self.go(scene) if not self._quiet else None, "value")
        return button

    def go(self, scene: Scene) -> None:
        """Set every control as the scene has it, and draw once."""
        self._quiet = True
        self.settings.update(self.demo.settings(scene))
        for panel, control in zip(self.panels, self.demo.controls, strict=True):
            panel.put(self.settings[control.name])
        self._quiet = False
        self._draw()

    def _moved(self, name: str, value: Any) -> None:
        self.settings[name] = value
        if not self._quiet:
            self._draw()

    def _draw(self) -> None:
        self.screen.value = self.demo.picture(**self.settings)
        self._quiet = True
        for panel in self.panels:
            panel.relabel(self.settings)
        for button, scene in zip(self._scenes, self.demo.scenes, strict=True):
            button.value = self.settings == self.demo.settings(scene)
        self._quiet = False


class _Panel:
    """One control's widgets: ``put`` sets a value, ``relabel`` follows the other settings."""

    def __init__(
        self,
        box: Any,
        put: Callable[[Any], None],
        relabel: Callable[[Settings], None] = lambda settings: None,
    ):
        self.box, self.put, self.relabel = box, put, relabel


def _panel(control: Control, moved: Callable[[str, Any], None], settings: Settings) -> _Panel:
    make: Callable[..., _Panel] = _MAKERS[type(control)]
    return make(control, lambda value: moved(control.name, value), settings)


def labels(of: Labels, settings: Settings) -> Sequence[str]:
    """The labels as they are under the settings."""
    return of(settings) if callable(of) else of


def _slider(control: Slider, moved: Callable[[Any], None], settings: Settings) -> _Panel:
    look = {
        "description": control.label,
        "layout": ipw.Layout(width="calc(var(--ckd-type) * 28)", margin="0 24px 0 0"),
    }
    put: Callable[[Any], None] | None = None
    if control.log:
        # stops with two digits: a slider of exponents would round what it is given
        widget: Any = ipw.SelectionSlider(options=[(f"{stop:g}", stop) for stop in control.stops()], **look)

        def put(value: Any) -> None:
            widget.value = min((stop for _, stop in widget.options), key=lambda stop: abs(stop - value))

    elif control.whole:
        widget = ipw.IntSlider(min=int(control.low), max=int(control.high), step=int(control.step), **look)
    else:
        decimals = max(0, len(f"{control.step:g}".partition(".")[2]))
        widget = ipw.FloatSlider(
            min=control.low, max=control.high, step=control.step, readout_format=f".{decimals}f", **look
        )
    put = put or (lambda value: setattr(widget, "value", value))
    put(settings[control.name])
    widget.observe(lambda change: moved(change["new"]), "value")
    return _Panel(widget, put)


def _steps(control: Steps, moved: Callable[[Any], None], settings: Settings) -> _Panel:
    slider = ipw.IntSlider(
        min=0,
        max=control.last,
        description=control.label,
        layout=ipw.Layout(width="calc(var(--ckd-type) * 23)"),
        value=settings[control.name],
    )
    play = ipw.Play(min=0, max=control.last, interval=control.milliseconds, value=slider.value, repeat=False)
    play.show_repeat = False
    ipw.jslink((play, "value"), (slider, "value"))

    def nudge(by: int) -> Callable[[Any], None]:
        return lambda button: setattr(slider, "value", min(max(slider.value + by, 0), control.last))

    back, forth = (_button(text, tip) for text, tip in (("◀", "One step back"), ("▶", "One step on")))
    back.on_click(nudge(-1))
    forth.on_click(nudge(1))
    slider.observe(lambda change: moved(change["new"]), "value")
    box = ipw.HBox([slider, back, forth, play], layout=ipw.Layout(align_items="center", margin="0 24px 0 0"))
    return _Panel(box, lambda value: setattr(slider, "value", value))


def _button(text: str, tip: str) -> ipw.Button:
    return ipw.Button(description=text, tooltip=tip)


def _choice(control: Choice, moved: Callable[[Any], None], settings: Settings) -> _Panel:
    options = list(control.options)
    short = sum(map(len, options)) <= 60
    kind = ipw.ToggleButtons if short else ipw.Dropdown
    layout = ipw.Layout(margin="0 24px 0 0") if short else ipw.Layout(width="auto", margin="0 24px 0 0")
    widget = kind(options=options, value=settings[control.name], description=control.label, layout=layout)
    widget.style = {"button_width": "auto"} if short else {}
    widget.observe(lambda change: moved(change["new"]), "value")
    return _Panel(widget, lambda value: setattr(widget, "value", value))


def _switches(
    count: int, value: Sequence[bool], changed: Callable[[], None], *, cell: bool = False
) -> list[Any]:
    made = []
    for i in range(count):
        switch = ipw.ToggleButton(value=bool(value[i]))
        if cell:
            switch.add_class("ckd-cell")
        switch.observe(lambda change: changed(), "value")
        made.append(switch)
    return made


def _name(switch: Any, text: str) -> None:
    """Mark a switch by a sign as well as by its shade."""
    switch.description = f"{'☑' if switch.value else '☐'} {text}"


def _ticks(control: Ticks, moved: Callable[[Any], None], settings: Settings) -> _Panel:
    quiet = [False]

    def changed() -> None:
        if not quiet[0]:
            moved(tuple(switch.value for switch in switches))

    switches = _switches(len(control.start), settings[control.name], changed)

    def put(value: Sequence[bool]) -> None:
        quiet[0] = True
        for switch, one in zip(switches, value, strict=True):
            switch.value = bool(one)
        quiet[0] = False

    def relabel(settings: Settings) -> None:
        for switch, text in zip(switches, labels(control.items, settings), strict=True):
            _name(switch, text)

    box = ipw.HBox([ipw.Label(control.label), *switches], layout=ipw.Layout(**_ROW))
    return _Panel(box, put, relabel)


def _faders(control: Faders, moved: Callable[[Any], None], settings: Settings) -> _Panel:
    quiet = [False]
    names = [ipw.Label() for _ in control.start]
    sliders = [
        ipw.FloatSlider(
            min=0, max=1, step=0.1, value=one, orientation="vertical", readout=False,
            layout=ipw.Layout(height="calc(var(--ckd-type) * 5)", width="calc(var(--ckd-type) * 4.6)"),
        )
        for one in settings[control.name]
    ]  # fmt: skip

    def changed(change: Any) -> None:
        if not quiet[0]:
            moved(tuple(round(slider.value, 3) for slider in sliders))

    for slider in sliders:
        slider.observe(changed, "value")

    def put(value: Sequence[float]) -> None:
        quiet[0] = True
        for slider, one in zip(sliders, value, strict=True):
            slider.value = one
        quiet[0] = False

    def relabel(settings: Settings) -> None:
        for label, slider, text in zip(names, sliders, labels(control.items, settings), strict=True):
            label.value = text
            slider.tooltip = f"{control.label}: {text}"

    centred = ipw.Layout(align_items="center")
    columns = [ipw.VBox([name, slider], layout=centred) for slider, name in zip(sliders, names, strict=True)]
    box = ipw.HBox([ipw.Label(control.label), *columns], layout=ipw.Layout(**_ROW))
    return _Panel(box, put, relabel)


def _paint(control: Paint, moved: Callable[[Any], None], settings: Settings) -> _Panel:
    quiet = [False]
    across = len(control.start[0])

    def changed() -> None:
        if not quiet[0]:
            moved(tuple(tuple(switch.value for switch in row) for row in switches))

    switches = [_switches(across, row, changed, cell=True) for row in settings[control.name]]
    row_names = [ipw.Label() for _ in switches]

    def put(value: Sequence[Sequence[bool]]) -> None:
        quiet[0] = True
        for row, ones in zip(switches, value, strict=True):
            for switch, one in zip(row, ones, strict=True):
                switch.value = bool(one)
        quiet[0] = False

    def relabel(settings: Settings) -> None:
        columns = labels(control.columns, settings)
        for label, row, name in zip(row_names, switches, labels(control.rows, settings), strict=True):
            label.value = name
            for switch, column in zip(row, columns, strict=True):
                state = f"{name}, {column}: {'open' if switch.value else 'closed'}"
                sign = "✓" if switch.value else "·"
                switch.description = (
                    sign if control.at is None else state
                )  # over a picture it is heard, not seen
                switch.tooltip = state

    if control.at is not None:
        return _Panel(_over(control.at, switches), put, relabel)
    lines = [
        ipw.HBox([label, *row], layout=ipw.Layout(justify_content="flex-end"))
        for label, row in zip(row_names, switches, strict=True)
    ]
    box = ipw.VBox([ipw.Label(control.label), *lines], layout=ipw.Layout(margin="0 24px 0 0"))
    return _Panel(box, put, relabel)


def _over(at: tuple[float, float, float, float], switches: list[list[Any]]) -> Any:
    """The switches as a grid that lies on the picture."""
    x, y, wide, high = at
    rows, columns = len(switches), len(switches[0])
    grid = ipw.GridBox(
        [switch for row in switches for switch in row],
        layout=ipw.Layout(
            left=f"{100 * (x - LEFT) / (WIDTH - 2 * LEFT):.3f}%",
            width=f"{100 * columns * wide / (WIDTH - 2 * LEFT):.3f}%",
            top=f"{100 * (y - ABOVE) / (HEIGHT - 2 * ABOVE):.3f}%",
            height=f"{100 * rows * high / (HEIGHT - 2 * ABOVE):.3f}%",
            grid_template_columns=f"repeat({columns}, 1fr)",
            grid_template_rows=f"repeat({rows}, 1fr)",
            grid_gap="0px",
        ),
    )
    grid.add_class("ckd-over")
    return grid


def _words(control: Words, moved: Callable[[Any], None], settings: Settings) -> _Panel:
    widget = ipw.Text(
        value=settings[control.name],
        description=control.label,
        layout=ipw.Layout(width="calc(var(--ckd-type) * 34)", margin="0 24px 0 0"),
    )
    widget.observe(lambda change: moved(change["new"]), "value")
    return _Panel(widget, lambda value: setattr(widget, "value", value))


def _again(control: Again, moved: Callable[[Any], None], settings: Settings) -> _Panel:
    count = [settings[control.name]]
    button = _button(f"↻ {control.label}", control.label)

    def pressed(_: Any) -> None:
        count[0] += 1
        moved(count[0])

    def put(value: int) -> None:
        count[0] = value

    button.on_click(pressed)
    return _Panel(button, put)


_MAKERS: dict[type, Callable[..., _Panel]] = {
    Slider: _slider,
    Steps: _steps,
    Choice: _choice,
    Ticks: _ticks,
    Faders: _faders,
    Paint: _paint,
    Words: _words,
    Again: _again,
}
