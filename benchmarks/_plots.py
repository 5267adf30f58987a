"""The curves as SVG, by matplotlib: legible on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ._curves import Drawn

GREY = "#808080"
COLOURS = ("#d9480f", "#1c7ed6", "#2f9e44", "#ae3ec9", "#0c8599", "#e8a005", "#868e96")


def write(all_drawn: Iterable[Drawn], folder: Path) -> None:
    """Write a file for each curve."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(
            "the plots need matplotlib: install the dependency group bench"
        ) from error
    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",  # text stays text: it can be read aloud and searched
            "svg.hashsalt": "structsync",  # the same figures give the same file
            "font.family": "sans-serif",
            "text.color": GREY,
            "axes.labelcolor": GREY,
            "axes.edgecolor": GREY,
            "xtick.color": GREY,
            "ytick.color": GREY,
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    for drawn in all_drawn:
        _write(drawn, folder / f"{drawn.curve.name}.svg")


def _write(drawn: Drawn, file: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for colour, (name, points) in zip(COLOURS, drawn.points.items(), strict=False):
        sizes, medians, lows, highs = zip(*points, strict=True)
        axes.plot(sizes, medians, marker="o", markersize=4, color=colour, label=name)
        axes.fill_between(sizes, lows, highs, color=colour, alpha=0.2, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(drawn.curve.sizes, [f"{size:,}" for size in drawn.curve.sizes])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_title(drawn.curve.title, fontsize=11)
    axes.set_xlabel(drawn.curve.across)
    axes.set_ylabel("checkpoints of trio")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(file, transparent=True, metadata={"Date": None})
    pyplot.close(figure)
