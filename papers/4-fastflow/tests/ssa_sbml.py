# SPDX-License-Identifier: Apache-2.0
"""SBML of level 3 for the tests of strid-ssa: models of lists, math of infix text."""

import ast

from ssa_models import MATH

DISTRIBUTIONS = {"bernoulli", "binomial", "cauchy", "chisquare", "exponential", "gamma", "laplace",
                 "lognormal", "normal", "poisson", "rayleigh", "uniform"}
SYMBOLS = {"time": "time", "avogadro": "avogadro"}
OPERATORS = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.Div: "divide",
             ast.Pow: "power", ast.Lt: "lt", ast.Gt: "gt", ast.LtE: "leq", ast.GtE: "geq",
             ast.Eq: "eq", ast.NotEq: "neq", ast.And: "and", ast.Or: "or", ast.USub: "minus",
             ast.Not: "not"}


def elements(node):
    def apply(operator, *operands):
        return f"<apply><{OPERATORS[type(operator)]}/>{''.join(map(elements, operands))}</apply>"

    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            return f"<{str(node.value).lower()}/>"
        return f"<cn>{node.value}</cn>"
    if isinstance(node, ast.Name):
        if node.id in SYMBOLS:
            return ('<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/'
                    f'{node.id}">{node.id}</csymbol>')
        return f"<ci>{node.id}</ci>"
    if isinstance(node, ast.BinOp):
        return apply(node.op, node.left, node.right)
    if isinstance(node, ast.UnaryOp):
        return apply(node.op, node.operand)
    if isinstance(node, ast.BoolOp):
        return apply(node.op, *node.values)
    if isinstance(node, ast.Compare):
        return apply(node.ops[0], node.left, node.comparators[0])
    if isinstance(node, ast.IfExp):
        return (f"<piecewise><piece>{elements(node.body)}{elements(node.test)}</piece>"
                f"<otherwise>{elements(node.orelse)}</otherwise></piecewise>")
    if isinstance(node, ast.Call):
        name = node.func.id
        known = name if name in ("exp", "sin", "floor") else None
        head = f"<{known}/>" if known else f"<ci>{name}</ci>"
        if name in DISTRIBUTIONS:
            head = ('<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/'
                    f'distrib/{name}"> {name} </csymbol>')
        return f"<apply>{head}{''.join(map(elements, node.args))}</apply>"
    raise ValueError(ast.dump(node))


def math(text):
    return f"<math {MATH}>{elements(ast.parse(text, mode='eval').body)}</math>"


def species(name, amount, compartment="cell", concentration=False, boundary=False, more=""):
    kind = "initialConcentration" if concentration else "initialAmount"
    return (f'<species id="{name}" compartment="{compartment}" {kind}="{amount}" '
            f'hasOnlySubstanceUnits="{"false" if concentration else "true"}" '
            f'boundaryCondition="{str(boundary).lower()}" constant="false" {more}/>')


def reaction(name, reactants, products, law, reversible=False):
    def side(kind, terms):
        made = "".join(f'<speciesReference species="{term.split()[-1]}" stoichiometry='
                       f'"{term.split()[0] if " " in term else 1}" constant="true"/>'
                       for term in terms.split(" + ") if term)
        return f"<listOf{kind}>{made}</listOf{kind}>" if made else ""

    return (f'<reaction id="{name}" reversible="{str(reversible).lower()}" fast="false">'
            f'{side("Reactants", reactants)}{side("Products", products)}'
            f"<kineticLaw>{math(law)}</kineticLaw></reaction>")


def assignment(name, text):
    return f'<assignmentRule variable="{name}">{math(text)}</assignmentRule>'


def rate(name, text):
    return f'<rateRule variable="{name}">{math(text)}</rateRule>'


def event(trigger, assignments, delay=None, priority=None, initially=False, persistent=True,
          from_trigger=True, name="e"):
    made = "".join(f'<eventAssignment variable="{variable}">{math(text)}</eventAssignment>'
                   for variable, text in assignments.items())
    return (f'<event id="{name}" useValuesFromTriggerTime="{str(from_trigger).lower()}">'
            f'<trigger initialValue="{str(initially).lower()}" '
            f'persistent="{str(persistent).lower()}">{math(trigger)}</trigger>'
            + (f"<priority>{math(priority)}</priority>" if priority else "")
            + (f"<delay>{math(delay)}</delay>" if delay else "")
            + f"<listOfEventAssignments>{made}</listOfEventAssignments></event>")


def model(made_species=(), parameters=None, reactions=(), rules=(), events=(), size=1,
          attributes="", units="", functions=None, initial=None):
    """`parameters`: names with values; all may change."""
    def listed(kind, parts):
        return f"<listOf{kind}>{''.join(parts)}</listOf{kind}>" if parts else ""

    given = [f'<parameter id="{name}" value="{value}" constant="false"/>'
             for name, value in (parameters or {}).items()]
    defined = [f'<functionDefinition id="{name}"><math {MATH}><lambda>'
               + "".join(f"<bvar><ci>{one}</ci></bvar>" for one in arguments)
               + f"{elements(ast.parse(body, mode='eval').body)}</lambda></math>"
               "</functionDefinition>" for name, (arguments, body) in (functions or {}).items()]
    begun = [f'<initialAssignment symbol="{name}">{math(text)}</initialAssignment>'
             for name, text in (initial or {}).items()]
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            '<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" '
            'xmlns:distrib="http://www.sbml.org/sbml/level3/version1/distrib/version1" '
            'level="3" version="1" distrib:required="true">'
            f'<model id="m" {attributes}>\n{listed("FunctionDefinitions", defined)}{units}'
            f'<listOfCompartments><compartment id="cell" size="{size}" spatialDimensions="3" '
            f'constant="false"/></listOfCompartments>\n{listed("Species", made_species)}'
            f'{listed("Parameters", given)}{listed("InitialAssignments", begun)}'
            f'{listed("Rules", rules)}{listed("Reactions", reactions)}'
            f'{listed("Events", events)}</model></sbml>\n')
