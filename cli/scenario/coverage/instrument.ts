// Instruments scripts of plugins with a count at each statement, to record what scenarios reach of them. Insertions have no line
// breaks, so that lines keep their numbers. The counts leave the sandbox as lines of its log.
import { type Node, parse } from 'acorn'

/** Marks a line of the log that is a count and not the script's own. */
export const COUNT_MARK = '\u0001bindery-coverage '

export type Instrumented = {
  readonly source: string
  /** The line of each statement, from 1, by its number. */
  readonly lines: readonly number[]
}

type Part = Node & Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

/** Returns undefined for a file that is not a script, or cannot be parsed as one. */
export function instrument(path: string, source: string): Instrumented | undefined {
  if (!/\.[cm]?js$/.test(path)) return undefined
  const program = parseProgram(source)
  // A shebang would no longer be on the first line.
  if (!program || source.startsWith('#!')) return undefined
  const lines: number[] = []
  const edits: { at: number; text: string; isEnd: boolean }[] = []
  const put = (at: number, text: string, isEnd = false): void => void edits.push({ at, text, isEnd })
  const count = (node: Part): string => {
    lines.push(node.loc!.start.line)
    return `__bindery(${lines.length - 1});`
  }
  const statements = (list: unknown): void => {
    for (const one of list as Part[])
      if (isNode(one) && !one.directive && COUNTED.test(one.type)) put(one.start, count(one))
  }
  const single = (body: unknown): void => {
    if (!isNode(body) || body.type === 'BlockStatement' || body.type === 'IfStatement') return
    put(body.start, `{${COUNTED.test(body.type) ? count(body) : ''}`)
    put(body.end, '}', true)
  }
  const waiting: unknown[] = [program]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (Array.isArray(next)) waiting.push(...next)
    if (!isNode(next)) continue
    const { type, body, consequent, alternate } = next
    if (type === 'Program' || type === 'BlockStatement') statements(body)
    if (type === 'SwitchCase') statements(consequent)
    if (type === 'IfStatement') {
      single(consequent)
      single(alternate)
    }
    if (LOOPS.test(type)) single(body)
    if (FUNCTIONS.test(type) && isNode(body)) {
      if (body.type === 'BlockStatement') {
        put(endOfDirectives(body), '__bindery(-1);try{')
        put(body.end - 1, '}finally{__bindery(-2)}', true)
      } else {
        lines.push(body.loc!.start.line)
        put(body.start, `__bindery(${lines.length - 1},${next.async ? 'async' : ''}()=>(`)
        put(body.end, '))', true)
      }
    }
    waiting.push(...Object.values(next))
  }
  put(endOfDirectives(program), headOf(path))
  edits.sort((a, b) => b.at - a.at || Number(a.isEnd) - Number(b.isEnd))
  return { source: applyEdits(source, edits), lines }
}

const COUNTED =
  /^(?:Expression|If|For|ForIn|ForOf|While|DoWhile|Return|Throw|Try|Switch|Break|Continue|Labeled)Statement$|^VariableDeclaration$/
const LOOPS = /^(?:For|ForIn|ForOf|While|DoWhile)Statement$/
const FUNCTIONS = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/

function parseProgram(source: string): Part | undefined {
  for (const sourceType of ['script', 'module'] as const)
    try {
      return parse(source, {
        sourceType,
        ecmaVersion: 'latest',
        locations: true,
        allowHashBang: true,
        allowReturnOutsideFunction: sourceType === 'script',
      }) as unknown as Part
    } catch {
      // The other kind, or a mistake that the check of the configuration shows.
    }
  return undefined
}

function endOfDirectives({ type, body, start }: Part): number {
  const directives = (body as Part[]).filter(one => one.directive)
  return directives.at(-1)?.end ?? (type === 'Program' ? start : start + 1)
}

/**
 * Counts, and writes the new counts when the outermost function of the file ends: -1 begins a function, -2 ends one. With
 * `work`, the function is an expression.
 */
const headOf = (path: string): string =>
  `;const __bindery=((log,json)=>{const seen={};let depth=0,fresh=[];const count=at=>{if(!seen[at]){seen[at]=true;fresh.push(at)}};const end=()=>{if(--depth===0&&fresh.length>0){log(${JSON.stringify(COUNT_MARK)}+json([${JSON.stringify(path)},fresh]));fresh=[]}};return(at,work)=>{if(at===-1)depth+=1;else if(at===-2)end();else{count(at);if(work){depth+=1;try{return work()}finally{end()}}}}})(text=>console.log(text),JSON.stringify);`

function applyEdits(source: string, edits: readonly { at: number; text: string }[]): string {
  const pieces: string[] = []
  let end = source.length
  for (const { at, text } of edits) {
    pieces.push(source.slice(at, end), text)
    end = at
  }
  pieces.push(source.slice(0, end))
  return pieces.reverse().join('')
}
