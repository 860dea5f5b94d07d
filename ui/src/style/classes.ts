// The classes that the sources set, for the test of the style sheets. The compiler knows the values that an
// expression may have, so that `button ${kind}` is button with each kind.

import { readdirSync } from "node:fs";
import ts from "typescript";

export interface Classes {
  /** Each class with a place that sets it. */
  names: Map<string, string>;
  /** Each class of a selector by which a source looks for elements, with its place. */
  asked: [name: string, place: string][];
  /** Places whose classes may be any text. */
  open: string[];
}

export function readClasses(folder = "src"): Classes {
  const files = readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`);
  const program = ts.createProgram(
    files.filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts")),
    ts.parseJsonConfigFileContent(ts.readConfigFile("tsconfig.json", ts.sys.readFile).config, ts.sys, ".").options,
  );
  const checker = program.getTypeChecker();
  const out: Classes = { names: new Map(), asked: [], open: [] };

  for (const source of program.getSourceFiles()) {
    if (source.isDeclarationFile) continue;
    const visit = (node: ts.Node): void => {
      const value = classValue(node);
      if (value) take(value, source);
      for (const [, name] of selectorOf(node).matchAll(/\.([a-zA-Z][\w-]*)/g)) out.asked.push([name!, source.fileName]);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }

  return out;

  function take(value: ts.Expression, source: ts.SourceFile): void {
    const { line } = source.getLineAndCharacterOfPosition(value.getStart());
    const place = `${source.fileName.slice(source.fileName.indexOf(folder + "/"))}:${line + 1}`;
    const texts = textsOf(value, checker);
    if (!texts) out.open.push(`${place}: ${value.getText()}`);
    for (const name of texts?.flatMap((text) => text.split(/\s+/)).filter(Boolean) ?? []) {
      if (!out.names.has(name)) out.names.set(name, place);
    }
  }
}

/** The expression of class="…", or of element.className = …. */
function classValue(node: ts.Node): ts.Expression | undefined {
  if (ts.isJsxAttribute(node) && node.name.getText() === "class") {
    const value = node.initializer;
    return value && ts.isJsxExpression(value) ? value.expression : (value as ts.StringLiteral | undefined);
  }
  const assigned = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return assigned && ts.isPropertyAccessExpression(node.left) && node.left.name.text === "className"
    ? node.right
    : undefined;
}

/** The selector of a call such as querySelector("…"), else "". */
function selectorOf(node: ts.Node): string {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return "";
  const [selector] = node.arguments;
  const asks = /^(querySelector(All)?|closest|matches)$/.test(node.expression.name.text);
  return asks && selector && ts.isStringLiteralLike(selector) ? selector.text : "";
}

/** Every text that an expression may have; undefined if they are not known. */
function textsOf(e: ts.Expression, checker: ts.TypeChecker): string[] | undefined {
  if (ts.isStringLiteralLike(e)) return [e.text];
  if (ts.isParenthesizedExpression(e)) return textsOf(e.expression, checker);
  if (ts.isConditionalExpression(e)) return joined(textsOf(e.whenTrue, checker), textsOf(e.whenFalse, checker));
  if (ts.isTemplateExpression(e)) {
    let texts: string[] | undefined = [e.head.text];
    for (const span of e.templateSpans) {
      const parts = textsOf(span.expression, checker);
      texts = texts && parts && texts.flatMap((text) => parts.map((part) => text + part + span.literal.text));
    }
    return texts;
  }

  const type = checker.getTypeAtLocation(e);
  const types = type.isUnion() ? type.types : [type];
  return types.every((t) => t.isStringLiteral()) ? types.map((t) => (t as ts.StringLiteralType).value) : undefined;
}

function joined(a: string[] | undefined, b: string[] | undefined): string[] | undefined {
  return a && b && [...a, ...b];
}
