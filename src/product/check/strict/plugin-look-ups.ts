// Finds calls of `socotraApi`, and look-ups in tables whose names are literals, even if the name is passed through a function of
// the script.
import { isFunction, namedFunctions, nameOf, nodesOf, type ScriptNode } from './plugin-scripts.ts'

export type ScriptLookUp = {
  readonly table: string
  readonly key: string | undefined
  readonly offset: number
}

/** The indexes of a function's arguments that are the table and the key. */
type Wrapper = { readonly table: number; readonly key: number }

/** The arguments of `socotraApi.tableLookup(version, table, key)`. */
const OWN: Wrapper = { table: 1, key: 2 }

/**
 * Finds look-ups whose table is a literal, in the order of the script. `key` is undefined if it is not a literal. `offset` is that
 * of the table's name in the script.
 */
export function lookUpsOf(program: ScriptNode): ScriptLookUp[] {
  const wrappers = wrappersOf(program)
  const found: ScriptLookUp[] = []
  for (const node of nodesOf(program)) {
    const wrapper = wrapperOfCall(node, wrappers)
    const args = node.arguments as ScriptNode[]
    const table = wrapper && textOf(args[wrapper.table])
    if (table === undefined) continue
    found.push({ table, key: textOf(args[wrapper!.key]), offset: args[wrapper!.table]!.start })
  }
  return found
}

const API = 'socotraApi'

/** Calls of functions of `socotraApi`, by name. None if the script defines or changes it. */
export function apiCallsOf(program: ScriptNode): { readonly name: string; readonly offset: number }[] {
  const calls: { name: string; offset: number }[] = []
  for (const node of nodesOf(program)) {
    if (isOwnApi(node)) return []
    const callee = node.callee as ScriptNode | undefined
    if (node.type !== 'CallExpression' || node.optional === true) continue
    if (callee?.type !== 'MemberExpression' || !isApi(callee.object)) continue
    const name = nameOf(callee, 'property')
    if (name !== undefined) calls.push({ name, offset: (callee.property as ScriptNode).start })
  }
  return calls
}

const isApi = (node: unknown): boolean =>
  (node as ScriptNode | undefined)?.type === 'Identifier' && (node as ScriptNode).name === API

function isOwnApi(node: ScriptNode): boolean {
  if (node.type === 'VariableDeclarator') return isApi(node.id)
  if (isFunction(node)) return (node.params as ScriptNode[]).some(isApi)
  const target = node.type === 'AssignmentExpression' ? (node.left as ScriptNode) : undefined
  return isApi(target) || (target?.type === 'MemberExpression' && isApi(target.object))
}

const textOf = (node: ScriptNode | undefined): string | undefined =>
  node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined

function isLookUp(node: ScriptNode): boolean {
  if (node.type !== 'CallExpression') return false
  const callee = node.callee as ScriptNode
  if (callee.type === 'MemberExpression') return nameOf(callee, 'property') === 'tableLookup'
  return callee.type === 'Identifier' && callee.name === 'tableLookup'
}

function wrapperOfCall(node: ScriptNode, wrappers: ReadonlyMap<string, Wrapper>): Wrapper | undefined {
  if (node.type !== 'CallExpression') return undefined
  if (isLookUp(node)) return OWN
  const callee = node.callee as ScriptNode
  return callee.type === 'Identifier' ? wrappers.get(callee.name as string) : undefined
}

/** Functions that look up in a table whose name is their argument. */
function wrappersOf(program: ScriptNode): Map<string, Wrapper> {
  const wrappers = new Map<string, Wrapper>()
  for (const [name, one] of namedFunctions(program)) {
    const params = (one.params as ScriptNode[]).map(param => param.name)
    for (const node of nodesWithin(one)) {
      if (!isLookUp(node)) continue
      const args = node.arguments as ScriptNode[]
      const [table, key] = [args[1], args[2]].map(arg =>
        arg?.type === 'Identifier' ? params.indexOf(arg.name) : -1,
      )
      if (table! >= 0) wrappers.set(name, { table: table!, key: key! })
    }
  }
  return wrappers
}

/** The nodes in the body of a function, without functions nested in it, whose parameters differ. */
function* nodesWithin(node: ScriptNode): Generator<ScriptNode> {
  const waiting = [node.body as ScriptNode]
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    yield one
    for (const value of Object.values(one))
      for (const child of Array.isArray(value) ? value : [value])
        if (
          typeof child === 'object' &&
          child !== null &&
          'type' in child &&
          !isFunction(child as ScriptNode)
        )
          waiting.push(child as ScriptNode)
  }
}
