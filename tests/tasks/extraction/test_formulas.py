import pytest
from lxml import html

from tasks.extraction.visible import show


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("<mi>E</mi> <mo>=</mo> <mi>m</mi><msup><mi>c</mi>\n<mn>2</mn></msup>", "E=mc²"),
        ("<msup><mn>10</mn><mn>30</mn></msup>", "10^30"),
        ("<msup><mn>10</mn><mrow><mo>−</mo><mn>30</mn></mrow></msup>", "10^−30"),
        ("<msub><mi>H</mi><mn>2</mn></msub><mi>O</mi>", "H2O"),
        ("<mn>5</mn><mfrac><mn>3</mn><mn>4</mn></mfrac>", "5 3/4"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>4</mn></mfrac>", " (a+b)/4"),
        ("<msqrt><mn>2</mn></msqrt>", "√2"),
        ("<mn>7</mn><mo>\u2062</mo><mi>x</mi>", "7x"),
        ("<semantics><mn>7</mn><annotation encoding='application/x-tex'>{7}</annotation></semantics>", "7"),
        ("<mn>7</mn><mphantom><mn>9</mn></mphantom>", "7"),
    ],
)
def test_a_formula_is_part_of_its_line(formula, text):
    tree = html.fromstring(f"<body><p>It is <math>{formula}</math> here.</p></body>")
    show(tree)
    assert tree.text_content() == f"It is {text} here."
