# SPDX-License-Identifier: Apache-2.0
"""Models of the tests of strid-ssa, in the text form and in SBML."""

MICHAELIS_MENTEN = """\
# Michaelis-Menten
parameter k1 = 0.00166, k2 = 1e-4
parameter k3 = 0.1
species S = 301, E = 120, SE = 0, P = 0
bind: S + E -> SE @ k1
unbind: SE -> S + E @ k2
make: SE -> P + E @ k3
"""

DECAY = "species A = 100\nA -> 0 @ 0.5\n"
BIRTH_DEATH = "parameter k = 20, g = 0.5\nspecies A = 0\n0 -> A @ k\nA -> 0 @ g\n"
DIMER = "species A = 24, B = 0\n2 A <-> B @ 0.05, 0.3\n"
TOGGLE = """\
parameter a = 12, b = 2
species U = 0, V = 0
0 -> U rate a / (1 + V^b)
0 -> V rate a / (1 + U^b)
U -> 0 @ 1
V -> 0 @ 1
"""
# Bistable, with its counts made small, so that the master equation can be solved.
SCHLOEGL = """\
species X = 25
0 -> X @ 20
2 X -> 3 X @ 0.18
3 X -> 2 X @ 0.0075
X -> 0 @ 3.5
"""

MATH = 'xmlns="http://www.w3.org/1998/Math/MathML"'


def sides(reactants, products, level3):
    """The lists of one reaction."""
    constant = ' constant="true"' if level3 else ""

    def references(names):
        return "".join(
            f'<speciesReference species="{name}" stoichiometry="1"{constant}/>' for name in names
        )

    return (
        f"<listOfReactants>{references(reactants)}</listOfReactants>"
        f"<listOfProducts>{references(products)}</listOfProducts>"
    )


def times(*factors):
    """A product as MathML, of names and numbers."""
    made = "".join(
        f"<cn>{one}</cn>" if isinstance(one, (int, float)) else f"<ci>{one}</ci>"
        for one in factors
    )
    return f"<math {MATH}><apply><times/>{made}</apply></math>"


def michaelis_menten_sbml(level, more="", law=None, species_more=""):
    """The model above, line by line; `more` stands at the end of the model."""
    level3 = level == 3
    core = (
        'xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1"'
        if level3
        else 'xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4"'
    )
    flags = 'boundaryCondition="false" constant="false"' if level3 else ""
    dimensions = 'spatialDimensions="3" constant="true"' if level3 else ""
    constant = 'constant="true"' if level3 else ""
    reaction = 'reversible="false"' + (' fast="false"' if level3 else "")
    own = (
        '<listOfLocalParameters><localParameter id="k" value="0.1"/></listOfLocalParameters>'
        if level3
        else '<listOfParameters><parameter id="k" value="0.1"/></listOfParameters>'
    )

    def species(name, amount):
        return (
            f'<species id="{name}" compartment="cell" initialAmount="{amount}" '
            f'hasOnlySubstanceUnits="true" {flags}/>'
        )

    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<sbml {core}>",
            '<model id="m">',
            f'<listOfCompartments><compartment id="cell" size="2" {dimensions}/>'
            "</listOfCompartments>",
            "<listOfSpecies>",
            species("S", 301),
            # A concentration in a compartment of 2: 120 molecules.
            '<species id="E" compartment="cell" initialConcentration="60" '
            f'hasOnlySubstanceUnits="false" {flags}/>',
            species("SE", 0),
            species("P", 0) + species_more,
            "</listOfSpecies>",
            "<listOfParameters>"
            f'<parameter id="k1" value="0.00166" {constant}/>'
            f'<parameter id="k2" value="1e-4" {constant}/>'
            "</listOfParameters>",
            "<listOfReactions>",
            f'<reaction id="bind" {reaction}>{sides(["S", "E"], ["SE"], level3)}'
            f'<kineticLaw>{times("cell", "k1", "S", "E")}</kineticLaw></reaction>',
            f'<reaction id="unbind" {reaction}>{sides(["SE"], ["S", "E"], level3)}'
            f'<kineticLaw>{law or times("k2", "SE")}</kineticLaw></reaction>',
            f'<reaction id="make" {reaction}>{sides(["SE"], ["P", "E"], level3)}'
            f'<kineticLaw>{times("k", "SE")}{own}</kineticLaw></reaction>',
            "</listOfReactions>",
            more,
            "</model>",
            "</sbml>",
            "",
        ]
    )
