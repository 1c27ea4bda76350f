// Finds globals of Node and browsers in scripts. They exist on the machine of the author, but not in the sandbox.
import { ABSENT_GLOBALS } from '../../absent-globals.ts'
import { childrenOf, isFunction, nodesOf, type ScriptNode } from './plugin-scripts.ts'

/**
 * The absent globals that the program uses, with the offset of the first use. None that it asks for with `typeof`, because it can do
 * without those.
 */
export function absentGlobalsIn(program: ScriptNode): Map<string, number> {
  const uses = new Map<string, number>()
  const known = new Set<string>()
  const knowAll = (pattern: unknown): void => {
    for (const one of nodesOf(pattern as ScriptNode))
      if (one.type === 'Identifier') known.add(one.name as string)
  }
  for (const node of nodesOf(program)) {
    for (const declared of declarationsIn(node)) knowAll(declared)
    for (const child of childrenOf(node)) {
      const name = child.type === 'Identifier' ? (child.name as string) : ''
      if (!Object.hasOwn(ABSENT_GLOBALS, name) || isName(node, child)) continue
      uses.set(name, Math.min(child.start, uses.get(name) ?? child.start))
    }
  }
  for (const name of known) uses.delete(name)
  return uses
}

/** The parts of a node that declare names or make them known: patterns, and the operand of `typeof`. */
function declarationsIn(node: ScriptNode): unknown[] {
  if (isFunction(node)) return [node.id, ...(node.params as unknown[])].filter(Boolean)
  if (node.type === 'UnaryExpression') return node.operator === 'typeof' ? [node.argument] : []
  if (node.type === 'AssignmentExpression')
    return (node.left as ScriptNode).type === 'MemberExpression' ? [] : [node.left]
  if (node.type === 'CatchClause') return [node.param].filter(Boolean)
  if (/^Import\w*Specifier$/.test(node.type)) return [node.local]
  if (/^(?:VariableDeclarator|ClassDeclaration|ClassExpression)$/.test(node.type))
    return [node.id].filter(Boolean)
  return []
}

/** Whether the identifier is the name of a member, a property, a label or an export, and so no variable. */
const isName = (node: ScriptNode, child: ScriptNode): boolean =>
  (node.computed !== true && (node.property === child || (node.key === child && node.value !== child))) ||
  node.label === child ||
  node.imported === child ||
  node.exported === child
