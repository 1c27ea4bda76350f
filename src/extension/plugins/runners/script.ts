// Turns a script into a function with the five parameters of CommonJS, keeping the file's line numbers. ES modules are rewritten to
// that form; imported files are read when the module is loaded.
import { type Node, Parser, type Token } from 'acorn'
import { readJson } from '../../../product/check/json/read.ts'
import type { ScriptNode } from '../../../product/check/strict/plugin-scripts.ts'

/** `text` is a function expression. A script with a `problem` cannot run; requiring it throws the problem. */
export type CompiledScript = { readonly text: string; readonly problem?: ScriptProblem }

type ScriptProblem = { readonly message: string; readonly line: number; readonly column: number }

const HEAD = '(function (exports, require, module, __filename, __dirname) { '
const TAIL = '\n})'

const wrapScript = (body: string): CompiledScript => ({ text: HEAD + body + TAIL })

/** Compiles a script. The extension selects the format; for `.js`, the contents do. */
export function compileScript(path: string, source: string): CompiledScript {
  if (path.endsWith('.json')) return jsonScript(source)
  const script = path.endsWith('.mjs') ? undefined : parseSource(source, 'script')
  if (script && 'program' in script)
    return rejectDynamicLoading(script.program, wrapScript(asScript(source, script.program)))
  const module = path.endsWith('.cjs') ? undefined : parseSource(source, 'module')
  if (module && 'program' in module)
    return rejectDynamicLoading(module.program, wrapScript(asCommonJs(source, module.program)))
  const isModule = script && 'problem' in script && /'import' and 'export'/.test(script.problem.message)
  return failingScript((isModule || !script ? module : script) as { problem: ScriptProblem })
}

/** The syntax tree for checks, parsed as `compileScript` parses it; undefined if the script does not parse, or is JSON. */
export function parseScript(path: string, source: string): ScriptNode | undefined {
  if (path.endsWith('.json')) return undefined
  const script = path.endsWith('.mjs') ? undefined : parseSource(source, 'script')
  if (script && 'program' in script) return script.program as unknown as ScriptNode
  const module = path.endsWith('.cjs') ? undefined : parseSource(source, 'module')
  return module && 'program' in module ? (module.program as unknown as ScriptNode) : undefined
}

const failingScript = ({ problem }: { problem: ScriptProblem }): CompiledScript => ({
  text: `(function () { throw new SyntaxError(${JSON.stringify(problem.message)}) })`,
  problem,
})

function jsonScript(source: string): CompiledScript {
  try {
    return wrapScript(`module.exports = ${JSON.stringify(JSON.parse(source))}`)
  } catch (problem) {
    const read = readJson(source)
    if ('line' in read)
      return failingScript({ problem: { ...read, message: read.message.replace(/\.$/, '') } })
    return failingScript({ problem: { message: (problem as Error).message, line: 1, column: 1 } })
  }
}

type Program = Node & { body: Statement[] }
type Named = Node & { name?: string; value?: string }
type Statement = Node & {
  source?: { value: string } | null
  specifiers?: (Node & { local: Named; imported?: Named; exported?: Named })[]
  declaration?: Declared | null
  exported?: Named | null
}
type Declared = Node & { id?: Named | null; declarations?: Declarator[] }
type Declarator = { id: Node & { name?: string }; init?: Call | null }
type Call = Node & {
  callee?: Node & { name?: string }
  arguments?: (Node & { value?: unknown })[]
  /** Of `require('package').part`. */
  object?: Call
}

/** From this length on, a list of names is searched by a map. */
const MANY_NAMES = 32

/** The names that a scope declares. The parser looks for each name among all earlier ones, which takes too long in a list. */
class DeclaredNames extends Array<string> {
  #places: Map<string, number> | undefined

  override push(name: string): number {
    if (this.#places?.has(name) === false) this.#places.set(name, this.length)
    return super.push(name)
  }

  override indexOf(name: string): number {
    if (this.length < MANY_NAMES) return super.indexOf(name)
    this.#places ??= new Map([...this].map((one, at) => [one, at] as const).reverse())
    return this.#places.get(name) ?? -1
  }
}

type ParserWithScopes = {
  readonly scopeStack: { var: string[]; lexical: string[]; functions: string[] }[]
  enterScope(flags: number): void
}

/** Looks like the parser's own errors, so that it has a place in the script. */
const tooManyTokens = (loc: Token['loc']): SyntaxError =>
  Object.assign(
    new SyntaxError(`it has more than ${MOST_TOKENS} words and signs; put data into tables or JSON files`),
    { loc: loc?.start },
  )

/** Parses in time that is proportional to the length of the script. */
const ScriptParser = Parser.extend(Base => {
  const WithScopes = Base as unknown as new () => ParserWithScopes
  class Own extends WithScopes {
    override enterScope(flags: number): void {
      super.enterScope(flags)
      const scope = this.scopeStack.at(-1)!
      scope.var = new DeclaredNames()
      scope.lexical = new DeclaredNames()
      scope.functions = new DeclaredNames()
    }
  }
  return Own as unknown as typeof Parser
})

/**
 * The limit for the words and signs of a script. Each takes 100 to 300 bytes while the script is checked. It is room for about a
 * megabyte of code.
 */
const MOST_TOKENS = 300_000

function parseSource(
  source: string,
  sourceType: 'script' | 'module',
): { program: Program } | { problem: ScriptProblem } {
  let tokens = 0
  try {
    const program = ScriptParser.parse(source, {
      onToken({ loc }) {
        tokens += 1
        if (tokens > MOST_TOKENS) throw tooManyTokens(loc)
      },
      sourceType,
      // Later versions have `using`, which not every engine has.
      ecmaVersion: 2025,
      locations: true,
      allowHashBang: true,
      allowAwaitOutsideFunction: false,
      allowReturnOutsideFunction: sourceType === 'script',
    })
    return { program: program as unknown as Program }
  } catch (error) {
    if (error instanceof RangeError)
      return { problem: { message: 'it is nested too deeply', line: 1, column: 1 } }
    if (!(error instanceof SyntaxError)) throw error
    const { loc, message } = error as SyntaxError & { loc?: { line: number; column: number } }
    return {
      problem: {
        message: message.replace(/ \(\d+:\d+\)$/, ''),
        line: loc?.line ?? 1,
        column: (loc?.column ?? 0) + 1,
      },
    }
  }
}

const withoutHashBang = (source: string): string => source.replace(/^#!.*/, '')

/**
 * Lets a top-level `const name = require('package')`, or `const { name } = …`, find nothing if the script does not use the names:
 * authors leave in imports that only their own tools need. Such a call becomes the loader's `require.unused`.
 */
function asScript(source: string, program: Program): string {
  const packages = program.body.filter(isDeclaration).flatMap(packagesOf)
  if (packages.length === 0) return withoutHashBang(source)
  const uses = countNames(program)
  let text = ''
  let kept = 0
  for (const { names, end } of packages) {
    if (names.some(name => uses.get(name) !== 1)) continue
    text += `${source.slice(kept, end)}.unused`
    kept = end
  }
  return withoutHashBang(text + source.slice(kept))
}

/** How often the program declares or uses each name. Names of properties and in import declarations do not count. */
function countNames(program: Program): Map<string, number> {
  const counts = new Map<string, number>()
  const waiting: unknown[] = [program]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    const { type, name, computed } = next as { type?: string; name?: string; computed?: boolean }
    if (type === 'ImportDeclaration') continue
    if (type === 'Identifier') counts.set(name!, (counts.get(name!) ?? 0) + 1)
    for (const [part, value] of Object.entries(next))
      if (computed !== false || (part !== 'property' && part !== 'key')) waiting.push(value)
  }
  return counts
}

const isDeclaration = (node: Node): node is Declared => node.type === 'VariableDeclaration'

const isPackage = (request: unknown): request is string =>
  typeof request === 'string' && !request.startsWith('.')

/**
 * The packages that the declaration requires, leaving out relative paths, with the names that it gives to each or to its parts. `end`
 * is the end of the word `require`.
 */
function packagesOf({ declarations = [] }: Declared): { names: string[]; end: number }[] {
  return declarations.flatMap(({ id, init }) => {
    const call = init?.type === 'MemberExpression' ? init.object : init
    if (call?.callee?.name !== 'require' || !isPackage(call.arguments?.[0]?.value) || !isFlat(id)) return []
    return [{ names: patternNames(id), end: call.callee.end }]
  })
}

/** Whether the pattern is a name or takes named parts of the value, and so can be matched with an empty object. */
function isFlat(id: Pattern): boolean {
  if (id.type === 'Identifier') return true
  const isName = (node: Node | undefined): boolean => node?.type === 'Identifier'
  return (
    id.type === 'ObjectPattern' &&
    (id.properties as Pattern[]).every(({ value, argument }) => isName(value ?? argument))
  )
}

/** Turns a script that loads code in ways that plugins cannot into a failing one. */
function rejectDynamicLoading(program: Program, script: CompiledScript): CompiledScript {
  const loading = findDynamicImport(program)
  if (!loading) return script
  const { line, column } = loading.loc!.start
  return failingScript({
    problem: { message: 'import() and import.meta are not available in plugins', line, column: column + 1 },
  })
}

function findDynamicImport(node: unknown): Node | undefined {
  const waiting: unknown[] = [node]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    const { type, meta } = next as { type?: string; meta?: { name: string } }
    if (type === 'ImportExpression' || (type === 'MetaProperty' && meta?.name === 'import'))
      return next as Node
    for (const part of Object.values(next)) waiting.push(part)
  }
  return undefined
}

const nameOf = ({ name, value }: Named): string => name ?? value!

/** Returns the module's text without imports and exports, preceded on its first line by the code that replaces them. */
function asCommonJs(source: string, program: Program): string {
  const uses = countNames(program)
  const replacements = program.body.flatMap((node, at) => replacementOf(node, at, uses) ?? [])
  const edits = replacements.flatMap(one => one.edits)
  let text = ''
  let kept = 0
  for (const { start, end, text: instead = '' } of edits) {
    const lineBreaks = source.slice(start, end).replace(/[^\n]/g, '')
    text += source.slice(kept, start) + instead + lineBreaks
    kept = end
  }
  text += source.slice(kept)
  const head = `"use strict"; Object.defineProperty(exports, "__esModule", { value: true });`
  return [head, ...replacements.flatMap(replacement => replacement.before)].join(' ') + withoutHashBang(text)
}

/** The replacement of a statement: code before the first line, and edits in its place, which keep its line breaks. */
type Replacement = {
  readonly before: readonly string[]
  readonly edits: readonly { readonly start: number; readonly end: number; readonly text?: string }[]
}

const exporting = (name: string, expression: string): string =>
  `Object.defineProperty(exports, ${JSON.stringify(name)}, { enumerable: true, get: () => ${expression} });`

/** Returns undefined for a statement that stays unchanged. */
function replacementOf(
  node: Statement,
  at: number,
  uses: ReadonlyMap<string, number>,
): Replacement | undefined {
  const { type, specifiers = [], declaration, start, end } = node
  const isUnused = specifiers.length > 0 && specifiers.every(({ local }) => !uses.has(nameOf(local)))
  if (type === 'ImportDeclaration' && isUnused && isPackage(node.source!.value))
    return { before: [`require.unused(${JSON.stringify(node.source!.value)});`], edits: [{ start, end }] }
  const required = node.source ? `require.module(${JSON.stringify(node.source.value)})` : ''
  switch (type) {
    case 'ImportDeclaration':
      return { before: imports(specifiers, required), edits: [{ start, end }] }
    case 'ExportAllDeclaration': {
      const all = `require.all(exports, ${required});`
      return {
        before: [node.exported ? exporting(nameOf(node.exported), required) : all],
        edits: [{ start, end }],
      }
    }
    case 'ExportNamedDeclaration':
      return declaration
        ? {
            before: declaredNames(declaration).map(name => exporting(name, name)),
            edits: [{ start, end: declaration.start }],
          }
        : { before: listedExports(specifiers, required), edits: [{ start, end }] }
    case 'ExportDefaultDeclaration':
      return defaultExport(declaration!, start, at)
    default:
      return undefined
  }
}

const listedExports = (specifiers: NonNullable<Statement['specifiers']>, required: string): string[] =>
  specifiers.map(({ local, exported }) =>
    exporting(nameOf(exported!), required ? `${required}[${JSON.stringify(nameOf(local))}]` : nameOf(local)),
  )

function defaultExport(declared: Declared, start: number, at: number): Replacement {
  const name = /^(Function|Class)Declaration$/.test(declared.type) ? declared.id?.name : undefined
  if (name !== undefined)
    return { before: [exporting('default', name)], edits: [{ start, end: declared.start }] }
  const stored = `default_${at}`
  return {
    before: [exporting('default', stored), `var ${stored};`],
    edits: [
      { start, end: declared.start, text: `;${stored} = ` },
      { start: declared.end, end: declared.end, text: ';' },
    ],
  }
}

function imports(specifiers: NonNullable<Statement['specifiers']>, required: string): string[] {
  if (specifiers.length === 0) return [`${required};`]
  const namespaces = specifiers.filter(specifier => specifier.type === 'ImportNamespaceSpecifier')
  const parts = specifiers
    .filter(specifier => specifier.type !== 'ImportNamespaceSpecifier')
    .map(({ local, imported }) => `${JSON.stringify(imported ? nameOf(imported) : 'default')}: ${local.name}`)
  return [
    ...namespaces.map(({ local }) => `const ${local.name} = ${required};`),
    ...(parts.length > 0 ? [`const { ${parts.join(', ')} } = ${required};`] : []),
  ]
}

/** The names that a declaration such as `export const { a, b: [c] } = …` declares. */
function declaredNames({ id, declarations }: Declared): string[] {
  if (id) return [nameOf(id)]
  return (declarations ?? []).flatMap(declaration => patternNames(declaration.id))
}

type Pattern = Node & {
  name?: string
  left?: Node
  argument?: Node
  value?: Node
  elements?: (Node | null)[]
  properties?: Node[]
}

function patternNames(node: Node | null | undefined): string[] {
  if (!node) return []
  const { type, name, left, argument, value, elements = [], properties = [] } = node as Pattern
  if (type === 'Identifier') return [name!]
  if (type === 'AssignmentPattern') return patternNames(left)
  if (type === 'RestElement') return patternNames(argument)
  if (type === 'Property') return patternNames(value)
  return [...elements, ...properties].flatMap(patternNames)
}
