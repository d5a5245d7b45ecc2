"""What can be seen in a figure."""

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def marks_of(picture: bytes) -> int:
    """Dots in a figure: matplotlib draws them as uses of a shape, ticks and their labels apart."""
    root = ElementTree.fromstring(picture)
    above = {child: parent for parent in root.iter() for child in parent}

    def is_of_a_tick(element: ElementTree.Element) -> bool:
        while (parent := above.get(element)) is not None:
            element = parent
            if "tick" in element.get("id", ""):
                return True
        return False

    lines = [group for group in root.iter(f"{SVG}g") if group.get("id", "").startswith("line2d_")]
    return sum(len(list(line.iter(f"{SVG}use"))) for line in lines if not is_of_a_tick(line))
