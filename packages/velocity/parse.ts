// Parses a Velocity template into text, references and directives. It reports every problem and continues after it. It reads
// each character once or twice, no matter what the template contains.
import {
  type Call,
  Cursor,
  type Expression,
  type Macro,
  type Node,
  type Reference,
  readExpression,
  readReference,
  Unreadable,
} from './expression.ts'

type Parsed = { readonly nodes: readonly Node[]; readonly macros: ReadonlyMap<string, Macro> }

const DIRECTIVE = /#(?:(@)?([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/y
/** Directives with arguments. `else`, `end`, `break` and `stop` may have empty ones. */
const WITH_ARGUMENTS = new Set(['if', 'elseif', 'foreach', 'set', 'macro', 'define', 'parse', 'include'])
const WITHOUT = new Set(['else', 'end', 'break', 'stop'])
const NOTHING: Expression = { kind: 'value', value: null }
/** `#break($foreach)` is the same as `#break`. */
const EMPTY_ARGUMENTS = /[ \t]*\([ \t]*(?:\$foreach[ \t]*)?\)/y
/** A directive does not add a line: the line break after it is dropped. */
const LINE_END = /[ \t]*\r?\n/y

type BlockEnd = 'else' | 'elseif' | 'end'
type Ended = BlockEnd | 'source'
/** The directive that begins a block. */
type Opener = { readonly offset: number; readonly name: string }

/** The directives besides `#end` that end a block. The name of a macro with a body begins with `@`. */
const ENDS: Readonly<Record<string, readonly BlockEnd[] | undefined>> = {
  if: ['end', 'else', 'elseif'],
  foreach: ['end', 'else'],
}
const BLOCK_END = /#(?:@?(end|else|elseif)\b|\{(end|else|elseif)\})/y

/**
 * Returns the parts of the template and its macros by name. Passes every problem to `report`, and to `warn`, perhaps repeatedly, what
 * probably means something else than the author thinks. After a problem the result is incomplete. Rethrows what `report` throws.
 */
export function parseTemplate(
  source: string,
  report: (problem: Unreadable) => void,
  warn: (problem: Unreadable) => void,
): Parsed {
  const cursor = new Cursor(source)
  const macros = new Map<string, Macro>()

  /** Reads a directive's arguments. If they cannot be read, reports that and returns undefined. */
  function withArguments<T>(begin: number, read: () => T): T | undefined {
    cursor.match(/[ \t]*/y)
    const open = cursor.at
    try {
      const name = source.slice(begin, open).trim()
      if (!cursor.take('(')) throw cursor.problem(`'${name}' needs its arguments in parentheses`, begin)
      const made = read()
      cursor.expect(')', 'after the arguments')
      return made
    } catch (problem) {
      if (!(problem instanceof Unreadable)) throw problem
      report(problem)
      const line = source.indexOf('\n', Math.max(open, problem.offset))
      const close = source.indexOf(')', problem.offset)
      const lineEnd = line === -1 ? cursor.end : Math.min(line, cursor.end)
      cursor.at = close === -1 || close >= lineEnd ? lineEnd : close + 1
      return undefined
    }
  }

  const expression = (): Expression => readExpression(cursor, nodesInText)
  const variable = (): Reference => {
    cursor.skipBlank()
    const reference = readReference(cursor, nodesInText)
    if (!reference) throw cursor.problem("A variable such as '$name' is missing")
    return reference
  }

  function nodesInText(): Node[] {
    return block(undefined).nodes
  }

  /** Reads up to the end of the block that `opener` began, or of the source. */
  function block(opener: Opener | undefined): { nodes: Node[]; ended: Ended } {
    const nodes: Node[] = []
    let text = ''
    let ended: BlockEnd | undefined
    while (!cursor.done) {
      text += cursor.plainText()
      if (cursor.done) break
      ended = opener && blockEnd(opener)
      if (ended) break
      const part = readPart()
      cursor.countPart()
      if (typeof part === 'string') text += part
      else if (part) {
        if (text !== '') nodes.push(text)
        text = ''
        nodes.push(part)
      }
    }
    if (text !== '') nodes.push(text)
    if (opener && !ended) {
      const unclosed = `The '#${opener.name}' that begins here is never closed. Add '#end'`
      report(cursor.problem(unclosed, opener.offset))
    }
    return { nodes, ended: ended ?? 'source' }
  }

  /** Reads the directive that ends the block of `opener`. Returns undefined, without reading anything, if there is none here. */
  function blockEnd(opener: Opener): BlockEnd | undefined {
    const begin = cursor.at
    const found = cursor.match(BLOCK_END)
    const name = (found?.[1] ?? found?.[2]) as BlockEnd | undefined
    if (name === undefined || !(ENDS[opener.name] ?? ['end']).includes(name)) {
      cursor.at = begin
      return undefined
    }
    if (name === 'elseif') return name
    cursor.match(EMPTY_ARGUMENTS)
    cursor.match(LINE_END)
    return name
  }

  /** Reads the part that begins with `\`, `$` or `#`, as text or a node. Returns undefined if it prints nothing. */
  function readPart(): Node | undefined {
    if (cursor.take('\\')) return cursor.match(/[#$]/y)?.[0] ?? '\\'
    if (cursor.peek('$')) return referenceOrDollar()
    return skipComment() ?? directiveOrHash()
  }

  function referenceOrDollar(): Node | undefined {
    const begin = cursor.at
    const reference = attempt(() => readReference(cursor, nodesInText))
    if (reference || cursor.at > begin) return reference
    cursor.at += 1
    return '$'
  }

  function directiveOrHash(): Node | undefined {
    const begin = cursor.at
    const found = cursor.match(DIRECTIVE)
    const name = found?.[2] ?? found?.[3]
    if (name === undefined || !isDirective(name)) {
      cursor.at = begin + 1
      return '#'
    }
    if (WITHOUT.has(name)) cursor.match(EMPTY_ARGUMENTS)
    if (name === 'end' || name === 'else' || name === 'elseif') {
      const message = `This '#${name}' belongs to no block. Remove it, or add the directive that opens the block`
      report(cursor.problem(message, begin))
      return undefined
    }
    const node = found![1] === '@' ? macroCall(name, begin, true) : directive(name, begin)
    cursor.match(LINE_END)
    return node
  }

  function attempt<T>(read: () => T): T | undefined {
    const begin = cursor.at
    try {
      return read()
    } catch (problem) {
      if (!(problem instanceof Unreadable)) throw problem
      report(problem)
      cursor.at = Math.min(cursor.end, Math.max(begin + 1, problem.offset))
      return undefined
    }
  }

  /**
   * Whether the name is a directive. Any other name is a macro if it is called, and otherwise text, such as a colour in a style
   * sheet.
   */
  const isDirective = (name: string): boolean =>
    WITH_ARGUMENTS.has(name) || WITHOUT.has(name) || cursor.peek('(')

  /**
   * Skips a comment or an unparsed block `#[[ … ]]#`, and returns the text to print: none for a comment. Returns undefined if
   * neither begins here. An unclosed one is reported and ends the source.
   */
  function skipComment(): string | undefined {
    const begin = cursor.at
    if (cursor.take('##')) {
      // A number pattern such as "#,##0.00" loses its end.
      if (cursor.quote === '"' && !cursor.done)
        warn(cursor.problem("In double quotes, '##' begins a comment. Use single quotes", begin))
      if (!cursor.match(/[^\n]*\n?/y)) cursor.at = cursor.end
      return ''
    }
    const opening = (['#*', '#[['] as const).find(sign => cursor.take(sign))
    if (opening === undefined) return undefined
    const closing = opening === '#*' ? '*#' : ']]#'
    const from = cursor.at
    const close = source.indexOf(closing, from)
    if (close === -1 || close >= cursor.end) {
      report(cursor.problem(`The '${opening}' that begins here is never closed by '${closing}'`, begin))
      cursor.at = cursor.end
      return ''
    }
    cursor.at = close + closing.length
    if (opening === '#[[') return source.slice(from, close)
    cursor.match(LINE_END)
    return ''
  }

  function directive(name: string, offset: number): Node | undefined {
    switch (name) {
      case 'break':
      case 'stop':
        return { kind: name, offset }
      case 'set': {
        const made = withArguments(offset, () => {
          const target = variable()
          cursor.expect('=', 'after the variable')
          return { target, value: expression() }
        })
        return made && { kind: 'set', ...made, offset }
      }
      case 'parse':
      case 'include': {
        const names = withArguments(offset, listed)
        return names && { kind: name, names, offset }
      }
      case 'if':
        return cursor.deeper(() => conditional(offset))
      case 'foreach':
        return cursor.deeper(() => loop(offset))
      case 'define':
        return define(offset)
      case 'macro':
        macro(offset)
        return undefined
      case 'evaluate': {
        const message = "'#evaluate' is not available: a template cannot create another template"
        report(cursor.problem(message, offset))
        withArguments(offset, listed)
        return undefined
      }
      default:
        return macroCall(name, offset, false)
    }
  }

  function listed(): Expression[] {
    const items: Expression[] = []
    for (;;) {
      cursor.skipBlank()
      if (cursor.peek(')')) return items
      items.push(expression())
      cursor.skipBlank()
      cursor.take(',')
    }
  }

  function conditional(offset: number): Node {
    const branches: { condition?: Expression; body: readonly Node[] }[] = []
    let condition: Expression | undefined = withArguments(offset, expression) ?? NOTHING
    for (;;) {
      cursor.match(LINE_END)
      const { nodes: body, ended } = block({ offset, name: 'if' })
      branches.push(condition ? { condition, body } : { body })
      if (ended === 'end' || ended === 'source') return { kind: 'if', branches, offset }
      if (condition === undefined) report(cursor.problem("Only '#end' can follow the '#else' of an '#if'"))
      condition = ended === 'else' ? undefined : (withArguments(cursor.at, expression) ?? NOTHING)
    }
  }

  function loop(offset: number): Node {
    const made = withArguments(offset, () => {
      const { name, steps } = variable()
      if (steps.length > 0) throw cursor.problem('The variable of a loop must be a plain name')
      cursor.skipBlank()
      if (!cursor.match(/in\b/y)) throw cursor.problem("'in' is missing after the variable of the loop")
      return { variable: name, over: expression() }
    }) ?? { variable: '', over: NOTHING }
    cursor.match(LINE_END)
    const first = block({ offset, name: 'foreach' })
    const otherwise = first.ended === 'else' ? block({ offset, name: 'else' }).nodes : []
    return { kind: 'foreach', ...made, body: first.nodes, otherwise, offset }
  }

  function define(offset: number): Node | undefined {
    const target = withArguments(offset, variable)
    cursor.match(LINE_END)
    const { nodes: body } = cursor.deeper(() => block({ offset, name: 'define' }))
    return target && { kind: 'define', name: target.name, body, offset }
  }

  function signature(): { name: string; parameters: Macro['parameters'] } {
    cursor.skipBlank()
    const name = cursor.match(/[A-Za-z_]\w*/y)?.[0]
    if (name === undefined) throw cursor.problem('The name of the macro is missing')
    const parameters: { name: string; otherwise?: Expression }[] = []
    for (;;) {
      cursor.skipBlank()
      cursor.take(',')
      cursor.skipBlank()
      if (cursor.peek(')')) return { name, parameters }
      const parameter = variable().name
      cursor.skipBlank()
      parameters.push({ name: parameter, ...(cursor.take('=') && { otherwise: expression() }) })
    }
  }

  function macro(offset: number): void {
    const made = withArguments(offset, signature)
    cursor.match(LINE_END)
    const { nodes: body } = cursor.deeper(() => block({ offset, name: 'macro' }))
    if (made) macros.set(made.name, { parameters: made.parameters, body })
  }

  function macroCall(name: string, offset: number, hasBody: boolean): Call | undefined {
    const args = withArguments(offset, listed)
    const text = source.slice(offset, cursor.at)
    const body = hasBody ? { body: cursor.deeper(() => block({ offset, name: `@${name}` })).nodes } : {}
    return args && { kind: 'call', name, args, ...body, source: text, offset }
  }

  try {
    return { nodes: block(undefined).nodes, macros }
  } catch (problem) {
    if (!(problem instanceof Unreadable)) throw problem
    report(problem)
    return { nodes: [], macros }
  }
}

/**
 * A parsed Velocity template. Bindery parses and renders the dialect itself, under the counted limits of Liquid. The library
 * velocityjs counts nothing, calls inherited members and lacks much that templates use. A sandbox would stop it without a line
 * number. See docs/velocity.md; a test compares the two.
 */
export type VelocityTemplate = Parsed & { readonly path: string; readonly source: string }
