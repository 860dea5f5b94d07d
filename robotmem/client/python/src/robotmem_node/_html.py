"""What notebooks show of answers: cards, tables and plots as HTML and SVG, without scripts."""

from __future__ import annotations

import html
from typing import Any

from ._answer import Answer, Time, flattened

_FOUND = "#2a7f3f"
_FAILED = "#b3261e"
_ROWS = 50  # that a table shows

# What a table shows of items that have many fields.
_COLUMNS: dict[str, list[str]] = {
    "StoredMemory": ["memory_id", "outcome", "content", "context.params", "observed_at", "collection"],
    "Session": ["session_id", "status", "outcome_score", "memory_count", "created_at", "collection"],
}


def page(answer: Answer) -> str:
    """An answer as HTML."""
    kind = type(answer).__name__
    if kind == "PreviewResponse":
        return _picture(answer)
    if kind == "AdviseResponse":
        return _advice(answer)
    if kind == "StoredMemory":
        return _memory(answer)
    if answer._items:
        return _table(answer)
    return _fields(flattened(answer))


def _text(value: Any) -> str:
    if isinstance(value, Time):
        value = value.strftime("%Y-%m-%d %H:%M:%S UTC")
    elif isinstance(value, dict):
        value = ", ".join("%s=%s" % item for item in value.items())
    elif isinstance(value, list):
        value = ", ".join(str(v) for v in value)
    return html.escape("" if value is None else str(value))


def _outcome(value: Any) -> str:
    color = {"success": _FOUND, "failure": _FAILED}.get(str(value))
    return '<b style="color:%s">%s</b>' % (color, _text(value)) if color else _text(value)


def _fields(values: dict[str, Any]) -> str:
    rows = "".join(
        '<tr><td style="text-align:left;color:#666">%s</td><td style="text-align:left">%s</td></tr>' % (_text(name), _outcome(value) if name == "outcome" else _text(value))
        for name, value in values.items()
    )
    return "<table>%s</table>" % rows


def _memory(answer: Answer) -> str:
    fields = flattened(answer)
    content = fields.pop("content", "")
    fields.pop("summary", None)
    return '<div dir="auto" style="font-weight:600">%s</div>%s' % (_text(content), _fields(fields))


def _table(answer: Answer) -> str:
    items = list(answer)
    if not items:
        said = answer.get("notes") or answer.get("degraded") or []
        return "<div>no %s%s</div>" % (_text(answer._items), _text(": " + "; ".join(said) if said else ""))
    names = _COLUMNS.get(type(items[0]).__name__) or [n for n in items[0].keys() if not isinstance(items[0][n], (dict, list, Answer))]
    rows = []
    for item in items[:_ROWS]:
        cells = []
        for name in names:
            value: Any = item
            for part in name.split("."):
                value = value.get(part) if isinstance(value, (Answer, dict)) else None
            cells.append('<td dir="auto" style="text-align:left">%s</td>' % (_outcome(value) if name == "outcome" else _text(value)))
        rows.append("<tr>%s</tr>" % "".join(cells))
    more = "<div>and %d more</div>" % (len(items) - _ROWS) if len(items) > _ROWS else ""
    notes = "".join("<div>%s</div>" % _text(note) for note in answer.get("notes") or [])
    head = "".join('<th style="text-align:left">%s</th>' % _text(name) for name in names)
    return "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>%s%s" % (head, "".join(rows), more, notes)


def _picture(answer: Answer) -> str:
    return '<img alt="%s" src="data:%s;base64,%s" style="max-width:100%%">' % (_text(answer["summary"]), _text(answer["media_type"].partition(";")[0]), _text(answer["data_base64"]))


def _advice(answer: Any) -> str:
    parts = ['<div style="font-weight:600">%s</div>' % _text(answer.suggestion.text)]
    parts += [_rates(p) for p in answer.parameters]
    parts += ["<div>%s</div>" % _text(note) for note in answer.notes]
    return "".join(parts)


_WIDTH, _ROW, _LEFT = 520, 22, 150


def _rates(parameter: Any) -> str:
    """The rate of success of each value of a parameter, with its 95 % interval, as SVG."""
    values = parameter.values
    if not values:
        return ""
    unit = " " + parameter.unit if parameter.unit else ""
    lines = []
    scale = _WIDTH - _LEFT - 90
    for i, v in enumerate(values):
        y = _ROW * i + 34
        low, high, rate = (_LEFT + scale * x for x in (v.low, v.high, v.rate))
        name = v.value if v.value is not None else "%s … %s" % (v.from_, v.to)
        lines.append(
            '<text x="%d" y="%d" text-anchor="end">%s</text>' % (_LEFT - 10, y + 4, _text("%s%s" % (name, unit)))
            + '<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#888" stroke-width="2"/>' % (low, high, y, y)
            + '<circle cx="%.1f" cy="%d" r="4" fill="%s"/>' % (rate, y, _FOUND if v.rate >= 0.5 else _FAILED)
            + '<text x="%d" y="%d" fill="#666">%.0f %% of %.4g</text>' % (_LEFT + scale + 8, y + 4, 100 * v.rate, v.attempts)
        )
    height = _ROW * len(values) + 34
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" fill="currentColor" role="img" aria-label="%s">'
        % (_WIDTH, height, _WIDTH, height, _text("rates of success by " + parameter.path))
        + '<text x="0" y="14" font-weight="600">%s</text>' % _text(parameter.path)
        + '<line x1="%d" x2="%d" y1="20" y2="%d" stroke="#ccc"/><line x1="%d" x2="%d" y1="20" y2="%d" stroke="#ccc"/>' % (_LEFT, _LEFT, height, _LEFT + scale, _LEFT + scale, height)
        + "".join(lines)
        + "</svg>"
    )
