"""The network of topics for Gephi, Cytoscape, igraph and the like: GEXF and GraphML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from anchorless._export.text import clean_line

GEXF, VIZ = "http://gexf.net/1.3", "http://gexf.net/1.3/viz"
GRAPHML = "http://graphml.graphdrawing.org/xmlns"
#: Diameter of the largest topic in Gephi.
LARGEST_NODE = 60.0
#: Attributes of topics and of pairs, and their types in GEXF and GraphML.
NODE_TYPES = {"share": "double", "coherence": "double", "words": "string", "group": "string", "junk": "string"}
EDGE_TYPES = {"association": "double", "correlation": "double"}


class Node(NamedTuple):
    """A topic."""

    number: int
    label: str
    values: Mapping[str, Any]  # by the names of `NODE_TYPES`; None is left out


class Edge(NamedTuple):
    """A pair of topics that are often together."""

    first: int
    second: int
    values: Mapping[str, Any]  # by the names of `EDGE_TYPES`


def format_gexf(nodes: Sequence[Node], edges: Sequence[Edge], origin: str) -> str:
    """Return the network as GEXF 1.3: size by share, weight by association."""
    root = ElementTree.Element("gexf", {"xmlns": GEXF, "xmlns:viz": VIZ, "version": "1.3"})
    meta = ElementTree.SubElement(root, "meta")
    ElementTree.SubElement(meta, "creator").text = clean_line(origin)
    graph = ElementTree.SubElement(root, "graph", {"defaultedgetype": "undirected", "mode": "static"})
    for kind, types in (("node", NODE_TYPES), ("edge", EDGE_TYPES)):
        declared = ElementTree.SubElement(graph, "attributes", {"class": kind})
        for name, of in types.items():
            ElementTree.SubElement(declared, "attribute", {"id": f"{kind}_{name}", "title": name, "type": of})
    largest = max((node.values["share"] for node in nodes), default=0.0) or 1.0
    parent = ElementTree.SubElement(graph, "nodes")
    for node in nodes:
        made = ElementTree.SubElement(parent, "node", {"id": str(node.number), "label": clean_line(node.label)})
        add_gexf_values(made, "node", node.values)
        size = LARGEST_NODE * (node.values["share"] / largest) ** 0.5  # the area is the share
        ElementTree.SubElement(made, "viz:size", {"value": repr(size)})
    parent = ElementTree.SubElement(graph, "edges")
    for number, edge in enumerate(edges):
        ends = {"id": str(number), "source": str(edge.first), "target": str(edge.second)}
        made = ElementTree.SubElement(parent, "edge", ends | {"weight": repr(float(edge.values["association"]))})
        add_gexf_values(made, "edge", edge.values)
    return serialize(root)


def add_gexf_values(parent: ElementTree.Element, kind: str, values: Mapping[str, Any]) -> None:
    """Add the attributes of a node or an edge."""
    holder = ElementTree.SubElement(parent, "attvalues")
    for name, text in iter_texts(values):
        ElementTree.SubElement(holder, "attvalue", {"for": f"{kind}_{name}", "value": text})


def format_graphml(nodes: Sequence[Node], edges: Sequence[Edge], origin: str) -> str:
    """Return the network as GraphML."""
    root = ElementTree.Element("graphml", {"xmlns": GRAPHML})
    root.append(ElementTree.Comment(clean_line(origin).replace("--", "- -")))
    node_types, edge_types = {"label": "string", **NODE_TYPES}, {"weight": "double", **EDGE_TYPES}
    for kind, types in (("node", node_types), ("edge", edge_types)):
        for name, of in types.items():
            key = {"id": f"{kind}_{name}", "for": kind, "attr.name": name, "attr.type": of}
            ElementTree.SubElement(root, "key", key)
    graph = ElementTree.SubElement(root, "graph", {"id": "topics", "edgedefault": "undirected"})
    for node in nodes:
        made = ElementTree.SubElement(graph, "node", {"id": str(node.number)})
        add_graphml_values(made, "node", {"label": node.label, **node.values})
    for edge in edges:
        made = ElementTree.SubElement(graph, "edge", {"source": str(edge.first), "target": str(edge.second)})
        add_graphml_values(made, "edge", {"weight": edge.values["association"], **edge.values})
    return serialize(root)


def add_graphml_values(parent: ElementTree.Element, kind: str, values: Mapping[str, Any]) -> None:
    """Add the attributes of a node or an edge."""
    for name, text in iter_texts(values):
        ElementTree.SubElement(parent, "data", {"key": f"{kind}_{name}"}).text = text


def iter_texts(values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield names and values as text; what is missing or not a number is left out."""
    for name, value in values.items():
        if isinstance(value, str):
            yield name, clean_line(value)
        elif value is not None and value == value:
            yield name, repr(float(value))


def serialize(root: ElementTree.Element) -> str:
    """Return XML with a declaration, indented."""
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
