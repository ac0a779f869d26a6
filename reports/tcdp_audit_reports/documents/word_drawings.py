"""The drawings of Word: the shapes of a chart as one group of DrawingML, and formulas as Office MathML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from tcdp_audit_reports.documents.shapes import LETTERS, POINTS, Look, Shape
from tcdp_audit_reports.guide_text import Node, fenced

EMU = 12700  # English Metric Units in a point
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "wpg": "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    }.items()
)
PRESETS = {"rectangle": "rect", "circle": "ellipse", "text": "rect"}
LETTER_WIDTH = 0.62  # of a letter, at most, in its size
SIDES = {"start": "left", "middle": "center", "end": "right"}
Box = tuple[float, float, float, float]  # left, top, width, height in points


def drawing_run(shapes: Sequence[Shape], size: tuple[float, float], description: str, numbers: Iterator[int]) -> str:
    """A run of text with shapes as one picture.

    Args:
        shapes: the shapes, in the order in which they cover one another; no text has a character that XML cannot have.
        size: width and height in points.
        description: the text in place of the picture, also for programs that cannot draw it; likewise fit for XML.
        numbers: unused numbers of the document's drawings; one is taken for each shape and one for the group.
    """
    wide, high = (_emu(one) for one in size)
    number, inner = next(numbers), "".join(_shape(one, next(numbers)) for one in shapes)
    extent = f'<a:off x="0" y="0"/><a:ext cx="{wide}" cy="{high}"/>'
    group = (
        "<wpg:wgp><wpg:cNvGrpSpPr/><wpg:grpSpPr><a:xfrm>"
        f'{extent}<a:chOff x="0" y="0"/><a:chExt cx="{wide}" cy="{high}"/></a:xfrm></wpg:grpSpPr>{inner}</wpg:wgp>'
    )
    uri = "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup"
    return (
        f'<w:r {NAMESPACES}><mc:AlternateContent><mc:Choice Requires="wpg"><w:drawing>'
        f'<wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="{wide}" cy="{high}"/>'
        f'<wp:docPr id="{number}" name="Drawing {number}" descr={quoteattr(description)}/>'
        f'<wp:cNvGraphicFramePr/><a:graphic><a:graphicData uri="{uri}">{group}</a:graphicData></a:graphic></wp:inline>'
        f"</w:drawing></mc:Choice><mc:Fallback><w:t>{escape(description)}</w:t></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )


def _shape(shape: Shape, number: int) -> str:
    box = _box(shape)
    left, top, wide, high = (_emu(one) for one in box)
    flips = _flips(shape)
    geometry = _path(shape, box) if shape.kind == "curve" else _preset(PRESETS.get(shape.kind, "line"))
    filled = _no_fill() if shape.kind in ("text", "line", "curve") else _fill(shape.look)
    line = "<a:ln><a:noFill/></a:ln>" if shape.kind == "text" else _line(shape.look)
    text = _text(shape) if shape.kind == "text" else ""
    is_text = ' txBox="1"' if shape.kind == "text" else ""
    return (
        f'<wps:wsp><wps:cNvPr id="{number}" name="Shape {number}"/><wps:cNvSpPr{is_text}/><wps:spPr>'
        f'<a:xfrm{flips}><a:off x="{left}" y="{top}"/><a:ext cx="{wide}" cy="{high}"/></a:xfrm>'
        f"{geometry}{filled}{line}</wps:spPr>{text}"
        '<wps:bodyPr wrap="square" lIns="0" tIns="0" rIns="0" bIns="0" anchor="t"><a:noAutofit/></wps:bodyPr></wps:wsp>'
    )


def _emu(points: float) -> int:
    return round(points * EMU)


def _box(shape: Shape) -> Box:
    if shape.kind == "text":
        ((x, y),) = shape.places
        width = len(shape.text) * LETTERS * LETTER_WIDTH + LETTERS
        left = {"start": x, "middle": x - width / 2, "end": x - width}[shape.anchor]
        return left, y - LETTERS * 1.05, width, LETTERS * 1.5
    across, down = [x for x, _ in shape.places], [y for _, y in shape.places]
    return min(across), min(down), max(across) - min(across), max(down) - min(down)


def _flips(shape: Shape) -> str:
    """The attributes that turn the line of a box from its left upper corner to the intended one."""
    if shape.kind != "line":
        return ""
    (x1, y1), (x2, y2) = shape.places
    return (' flipH="1"' if x2 < x1 else "") + (' flipV="1"' if y2 < y1 else "")


def _preset(name: str) -> str:
    return f'<a:prstGeom prst="{name}"><a:avLst/></a:prstGeom>'


def _path(shape: Shape, box: Box) -> str:
    left, top, wide, high = box
    points = [f'<a:pt x="{_emu(x - left)}" y="{_emu(y - top)}"/>' for x, y in shape.places]
    steps = "".join(f"<a:lnTo>{one}</a:lnTo>" for one in points[1:])
    return (
        '<a:custGeom><a:avLst/><a:gdLst/><a:ahLst/><a:cxnLst/><a:rect l="0" t="0" r="r" b="b"/><a:pathLst>'
        f'<a:path w="{_emu(wide)}" h="{_emu(high)}" fill="none"><a:moveTo>{points[0]}</a:moveTo>{steps}</a:path>'
        "</a:pathLst></a:custGeom>"
    )


def _fill(look: Look) -> str:
    return _colour(look.fill, look.opacity) if look.fill else _no_fill()


def _no_fill() -> str:
    return "<a:noFill/>"


def _colour(colour: str, opacity: float = 1.0) -> str:
    alpha = "" if opacity == 1 else f'<a:alpha val="{round(opacity * 100000)}"/>'
    return f'<a:solidFill><a:srgbClr val="{colour}">{alpha}</a:srgbClr></a:solidFill>'


def _line(look: Look) -> str:
    if not look.line:
        return f"<a:ln>{_no_fill()}</a:ln>"
    dash = '<a:prstDash val="dash"/>' if look.is_dashed else ""
    arrow = '<a:tailEnd type="triangle"/>' if look.has_arrow else ""
    return f'<a:ln w="{_emu(look.width * POINTS)}">{_colour(look.line)}{dash}<a:round/>{arrow}</a:ln>'


def _text(shape: Shape) -> str:
    size = round(LETTERS * 2)
    bold = "<w:b/>" if shape.look.is_bold else ""
    return (
        '<wps:txbx><w:txbxContent><w:p><w:pPr><w:spacing w:before="0" w:after="0" w:line="240" w:lineRule="auto"/>'
        f'<w:jc w:val="{SIDES[shape.anchor]}"/></w:pPr><w:r><w:rPr>{bold}<w:color w:val="{shape.look.fill}"/>'
        f'<w:sz w:val="{size}"/></w:rPr><w:t xml:space="preserve">{escape(shape.text)}</w:t></w:r></w:p>'
        "</w:txbxContent></wps:txbx>"
    )


MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
BIG = frozenset("∑∏⋂⋃⋀⋁∫")  # signs that stand before what they sum up
OPENING, CLOSING = frozenset("([{⌊"), frozenset(")]}⌋")
RELATIONS = frozenset("=≤≥<>≠≈∈∋⊆⊇⊃⊂,")  # signs at which that ends
UPRIGHT, NAME = '<m:rPr><m:sty m:val="p"/></m:rPr>', "<m:rPr><m:nor/></m:rPr>"


def office_math(line: Node) -> str:
    """A line of a formula as an `oMathPara`, aligned left. Cost: linear."""
    return (
        f'<m:oMathPara xmlns:m="{MATH}"><m:oMathParaPr><m:jc m:val="left"/></m:oMathParaPr>'
        f"<m:oMath>{_row([line])}</m:oMath></m:oMathPara>"
    )


def _row(nodes: Sequence[Node]) -> str:
    """Elements side by side, with what a sum sums up inside it."""
    parts = [*_flat(nodes)]
    xml, at = "", 0
    while at < len(parts):
        part = parts[at]
        if isinstance(part, tuple):
            xml += _bracketed(part)
        elif _is_sum(part) and (summed := [*_summed(parts[at + 1 :])]):
            xml += _sum(part, summed)
            at += len(summed)
        else:
            xml += _element(part)
        at += 1
    return xml


Bracketed = tuple[str, Sequence[Node], str]
Part = Node | Bracketed


def _bracketed(part: Bracketed) -> str:
    opening, inner, closing = part
    signs = f"<m:begChr m:val={quoteattr(opening)}/><m:endChr m:val={quoteattr(closing)}/>"
    return f"<m:d><m:dPr>{signs}</m:dPr><m:e>{_row(inner)}</m:e></m:d>"


def _flat(nodes: Sequence[Node]) -> Iterator[Part]:
    """The parts of a row, rows in it dissolved, growing brackets with what they hold as one."""
    for one in fenced(nodes):
        if isinstance(one, Node) and one.tag == "mrow":
            yield from _flat(one.parts)
        else:
            yield one


def _is_sum(node: Node) -> bool:
    base = node.parts[0] if node.tag in LIMITS and node.parts else node
    return base.tag == "mo" and base.text in BIG


LIMITS = {
    "munder": ("sub",),
    "mover": ("sup",),
    "munderover": ("sub", "sup"),
    "msub": ("sub",),
    "msubsup": ("sub", "sup"),
}


def _summed(parts: Sequence[Part]) -> Iterator[Part]:
    """What a sum sums up: all up to a relation, a comma, or the end of the brackets around it."""
    depth = 0
    for part in parts:
        sign = part.text if isinstance(part, Node) and part.tag == "mo" else ""
        depth += (sign in OPENING) - (sign in CLOSING)
        if depth < 0 or (depth == 0 and sign in RELATIONS):
            return
        yield part


def _sum(node: Node, summed: Sequence[Part]) -> str:
    sign = node.parts[0].text if node.parts else node.text
    names = LIMITS.get(node.tag, ()) if node.parts else ()
    limits: dict[str, str] = {name: _row([part]) for name, part in zip(names, node.parts[1:], strict=True)}
    hidden = "".join(f'<m:{name}Hide m:val="1"/>' for name in ("sub", "sup") if name not in limits)
    inner = "".join(_row([one]) if isinstance(one, Node) else _bracketed(one) for one in summed)
    return (
        f'<m:nary><m:naryPr><m:chr m:val={quoteattr(sign)}/><m:limLoc m:val="undOvr"/>{hidden}</m:naryPr>'
        f"<m:sub>{limits.get('sub', '')}</m:sub><m:sup>{limits.get('sup', '')}</m:sup><m:e>{inner}</m:e></m:nary>"
    )


def _element(node: Node) -> str:
    parts = [_row([one]) for one in node.parts]
    if node.tag in FORMS:
        name, roles = FORMS[node.tag]
        kind = '<m:fPr><m:type m:val="noBar"/></m:fPr>' if node.is_bare else ""
        places = sorted(zip(roles, parts, strict=True), key=lambda one: ORDER.index(one[0]))
        return f"<m:{name}>{kind}{''.join(f'<m:{role}>{part}</m:{role}>' for role, part in places)}</m:{name}>"
    if node.tag == "munderover":
        below = f"<m:limLow><m:e>{parts[0]}</m:e><m:lim>{parts[1]}</m:lim></m:limLow>"
        return f"<m:limUpp><m:e>{below}</m:e><m:lim>{parts[2]}</m:lim></m:limUpp>"
    if node.tag == "msqrt":
        return f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>{"".join(parts)}</m:e></m:rad>'
    if node.tag == "mtable":
        return f"<m:eqArr>{''.join(f'<m:e>{one}</m:e>' for one in parts)}</m:eqArr>"
    if node.tag == "mspace":
        return _letters("\u2003" if node.width >= 1 else "\u2009")
    return "".join(parts) or _letters(node.text, is_upright=node.is_upright)


FORMS = {  # the element of Word, and the roles of the parts in MathML's order
    "mfrac": ("f", ("num", "den")),
    "msub": ("sSub", ("e", "sub")),
    "msup": ("sSup", ("e", "sup")),
    "msubsup": ("sSubSup", ("e", "sub", "sup")),
    "munder": ("limLow", ("e", "lim")),
    "mover": ("limUpp", ("e", "lim")),
    "mroot": ("rad", ("e", "deg")),
}
ORDER = ("num", "den", "deg", "e", "sub", "sup", "lim")  # of Word


def _letters(text: str, *, is_upright: bool = False) -> str:
    look = NAME if len(text) > 1 and not text.isdigit() else UPRIGHT if is_upright else ""
    return f'<m:r>{look}<m:t xml:space="preserve">{escape(text)}</m:t></m:r>' if text else ""
