"""What can be seen in a figure."""

from __future__ import annotations

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def marks_of(picture: bytes) -> int:
    """Dots in a figure: matplotlib draws them as uses of a shape, ticks and their labels apart."""
    root = ElementTree.fromstring(picture)
    dots = 0
    for group in root.iter(f"{SVG}g"):
        if not group.get("id", "").startswith("line2d_"):
            continue
        if any("tick" in parent for parent in parents_of(root, group)):
            continue
        dots += sum(1 for _ in group.iter(f"{SVG}use"))
    return dots


def parents_of(root: ElementTree.Element, child: ElementTree.Element) -> list[str]:
    found = []
    for element in root.iter():
        if element is not child and any(one is child for one in element.iter()):
            found.append(element.get("id", ""))
    return found
