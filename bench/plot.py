"""Bars as SVG: horizontal, with the value and a note at each; colours follow the reader's light or dark scheme."""

from xml.sax.saxutils import escape

LABEL, WIDTH, NOTE = 300, 420, 260  # columns: names, bars, what stands behind them
ROW, BAR, TITLE = 26, 16, 34

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .note { fill: #57606a }
  .ours { fill: #1a7f5a }
  .limit { fill: #8c959f }
  .other { fill: #6e9bd6 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .note { fill: #9198a1 }
    .ours { fill: #3fb98a }
    .limit { fill: #656c76 }
    .other { fill: #4f7cb8 }
  }
"""


def kind(label):
    return "ours" if label.startswith("galatea") else "limit" if label.startswith("limit") else "other"


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def bars(name, charts):
    """charts: (title, [(label, value, note)]); each chart has a scale of its own."""
    body, y = [], 10
    for title, entries in charts:
        body.append(f'<text class="title" x="10" y="{y + 14}">{escape(title)}</text>')
        y += TITLE
        largest = max(value for _, value, _ in entries) or 1
        for label, value, note in entries:
            length = max(1.0, WIDTH * value / largest)
            middle = y + BAR - 3.5
            body.append(f'<text x="{LABEL - 8}" y="{middle}" text-anchor="end">{escape(label)}</text>')
            body.append(f'<rect class="{kind(label)}" x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>')
            body.append(f'<text x="{LABEL + length + 6:.1f}" y="{middle}">{number(value)}'
                        f'<tspan class="note" dx="8">{escape(note)}</tspan></text>')
            y += ROW
        y += 14
    width, height = LABEL + WIDTH + NOTE, y
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(name)}">\n<style>{STYLE}</style>\n' + "\n".join(body) + "\n</svg>\n")
