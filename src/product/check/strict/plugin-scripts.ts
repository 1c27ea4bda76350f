// Reads scripts of plugins: finds members that their input does not have, and functions by name.
import { type DataNode, memberOf } from '../../templates/data-tree.ts'

/** A node of the syntax tree (ESTree), as parsed by acorn. */
export type ScriptNode = {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [property: string]: unknown
}

export type ScriptAlarms = {
  /** Reports a member that the input does not have. */
  unknownMember(offset: number, shown: string, name: string, known: readonly string[]): void
  /** Reports a field that no part of the product has. */
  unknownField(offset: number, name: string): void
}

type Shape = DataNode | undefined
type Scope = { readonly names: Map<string, Shape>; readonly around: Scope | undefined }

/** Methods of lists that return one entry, and methods that return a list of the same entries. */
const ENTRY: ReadonlySet<string> = new Set(['at', 'find', 'findLast', 'pop', 'shift'])
const SAME: ReadonlySet<string> = new Set([
  'filter',
  'slice',
  'sort',
  'reverse',
  'toSorted',
  'toReversed',
  'concat',
])

/** Members whose keys are the names of fields. */
const FIELD_MAPS: ReadonlySet<string> = new Set(['fieldValues', 'values'])

/** Reports members of `input` that the function reads and that do not exist. */
export function checkMembers(
  program: ScriptNode,
  functionName: string,
  input: DataNode,
  isField: (name: string) => boolean,
  alarms: ScriptAlarms,
): void {
  const written = writtenMembers(program)
  const reader = new MemberReader(written, isField, alarms)
  for (const one of functionsNamed(program, functionName)) reader.enter(one, [input], undefined)
}

const isNode = (value: unknown): value is ScriptNode =>
  typeof value === 'object' && value !== null && typeof (value as ScriptNode).type === 'string'

export function* childrenOf(node: ScriptNode): Generator<ScriptNode> {
  for (const value of Object.values(node))
    if (Array.isArray(value)) {
      for (const one of value) if (isNode(one)) yield one
    } else if (isNode(value)) yield value
}

/** Every node. It does not recurse, because a script may nest deeper than the stack permits. */
export function* nodesOf(program: ScriptNode): Generator<ScriptNode> {
  const waiting: ScriptNode[] = [program]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    yield node
    // Pushed one by one: the elements of a large list are too many for the arguments of one call.
    for (const child of [...childrenOf(node)].reverse()) waiting.push(child)
  }
}

/** Whether the node is a function; methods have one as their value. */
export const isFunction = ({ type }: ScriptNode): boolean =>
  type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression'

/** The name of a property or member, unless it is computed. */
export function nameOf(node: ScriptNode, property: 'key' | 'property'): string | undefined {
  const name = node[property] as ScriptNode
  if (name.type === 'Literal' && typeof name.value === 'string') return name.value
  return node.computed !== true && name.type === 'Identifier' ? (name.name as string) : undefined
}

/** Functions with a name: declared, assigned to a variable or to `exports`, or a property of an object. */
function* functionsNamed(program: ScriptNode, wanted: string): Generator<ScriptNode> {
  for (const [name, one] of namedFunctions(program)) if (name === wanted) yield one
}

export function* namedFunctions(program: ScriptNode): Generator<readonly [string, ScriptNode]> {
  for (const node of nodesOf(program)) {
    if (node.type === 'FunctionDeclaration' && isNode(node.id)) yield [node.id.name as string, node]
    const value = (node.init ?? node.right ?? node.value) as unknown
    if (!isNode(value) || !isFunction(value)) continue
    const name = nameForValue(node)
    if (name !== undefined) yield [name, value]
  }
}

/** The name that a property, a declaration or an assignment gives to its value. */
function nameForValue(node: ScriptNode): string | undefined {
  if (node.type === 'Property') return nameOf(node, 'key')
  const target = (node.id ?? node.left) as unknown
  if (!isNode(target)) return undefined
  return target.type === 'MemberExpression' ? nameOf(target, 'property') : (target.name as string | undefined)
}

/** Names of members that the script itself assigns to objects. */
function writtenMembers(program: ScriptNode): ReadonlySet<string> {
  const names = new Set<string>()
  for (const node of nodesOf(program)) {
    const target = (node.type === 'AssignmentExpression' ? node.left : node.argument) as unknown
    if (node.type !== 'AssignmentExpression' && node.type !== 'UpdateExpression') continue
    if (isNode(target) && target.type === 'MemberExpression') {
      const name = nameOf(target, 'property')
      if (name !== undefined) names.add(name)
    }
  }
  return names
}

/** The steps of recursion after which a reader follows a script no further, because the stack has an end. */
const MOST_STEPS_DEEP = 1_000

class MemberReader {
  readonly #written: ReadonlySet<string>
  readonly #isField: (name: string) => boolean
  readonly #alarms: ScriptAlarms
  #depth = 0

  constructor(written: ReadonlySet<string>, isField: (name: string) => boolean, alarms: ScriptAlarms) {
    this.#written = written
    this.#isField = isField
    this.#alarms = alarms
  }

  /** Reads a function whose first arguments have the given shapes. */
  enter(node: ScriptNode, given: readonly Shape[], around: Scope | undefined): void {
    const scope: Scope = { names: new Map(), around }
    for (const [at, param] of (node.params as ScriptNode[]).entries()) this.#bind(param, given[at], scope)
    this.#read(node.body as ScriptNode, scope)
  }

  #bind(pattern: ScriptNode, shape: Shape, scope: Scope): void {
    switch (pattern.type) {
      case 'Identifier':
        scope.names.set(pattern.name as string, shape)
        break
      case 'AssignmentPattern':
        this.#bind(pattern.left as ScriptNode, undefined, scope)
        this.#read(pattern.right as ScriptNode, scope)
        break
      case 'RestElement':
        this.#bind(pattern.argument as ScriptNode, undefined, scope)
        break
      case 'ArrayPattern': {
        const items = shape?.type === 'list' ? shape.items : undefined
        for (const one of pattern.elements as (ScriptNode | null)[]) if (one) this.#bind(one, items, scope)
        break
      }
      case 'ObjectPattern':
        for (const one of pattern.properties as ScriptNode[])
          if (one.type === 'Property') this.#bindProperty(one, shape, scope)
          else this.#bind(one, undefined, scope)
    }
  }

  #bindProperty(property: ScriptNode, shape: Shape, scope: Scope): void {
    const value = property.value as ScriptNode
    const name = nameOf(property, 'key')
    const hasDefault = value.type === 'AssignmentPattern'
    const member = name === undefined ? undefined : this.#member(shape, name, property, hasDefault)
    this.#bind(hasDefault ? (value.left as ScriptNode) : value, member, scope)
    if (hasDefault) this.#read(value.right as ScriptNode, scope)
  }

  /** Reads a statement and everything in it. */
  #read(node: ScriptNode, scope: Scope): void {
    this.#deeper(() => this.#readNode(node, scope))
  }

  #shapeOf(node: ScriptNode, scope: Scope): Shape {
    return this.#deeper(() => this.#shapeOfNode(node, scope))
  }

  #deeper<Result>(step: () => Result): Result | undefined {
    if (this.#depth === MOST_STEPS_DEEP) return undefined
    this.#depth += 1
    const result = step()
    this.#depth -= 1
    return result
  }

  #readNode(node: ScriptNode, scope: Scope): void {
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        this.enter(node, [], scope)
        break
      case 'VariableDeclarator': {
        const shape = isNode(node.init) ? this.#shapeOf(node.init, scope) : undefined
        this.#bind(node.id as ScriptNode, shape, scope)
        break
      }
      case 'ForOfStatement':
        this.#readLoop(node, scope)
        break
      case 'AssignmentExpression':
        this.#readAssignment(node, scope)
        break
      case 'BlockStatement': {
        const inner: Scope = { names: new Map(), around: scope }
        for (const one of node.body as ScriptNode[]) this.#read(one, inner)
        break
      }
      default:
        if (/Expression$/.test(node.type) || node.type === 'Identifier') this.#shapeOf(node, scope)
        else for (const one of childrenOf(node)) this.#read(one, scope)
    }
  }

  #readAssignment(node: ScriptNode, scope: Scope): void {
    const target = node.left as ScriptNode
    if (target.type === 'Identifier') clearShape(target.name as string, scope)
    else if (target.type === 'MemberExpression') this.#shapeOf(target.object as ScriptNode, scope)
    this.#shapeOf(node.right as ScriptNode, scope)
  }

  #readLoop(node: ScriptNode, scope: Scope): void {
    const list = this.#shapeOf(node.right as ScriptNode, scope)
    const inner: Scope = { names: new Map(), around: scope }
    const left = node.left as ScriptNode
    const declared = left.type === 'VariableDeclaration' ? (left.declarations as ScriptNode[])[0] : undefined
    const items = list?.type === 'list' ? list.items : undefined
    if (declared) this.#bind(declared.id as ScriptNode, items, inner)
    this.#read(node.body as ScriptNode, inner)
  }

  #shapeOfNode(node: ScriptNode, scope: Scope): Shape {
    switch (node.type) {
      case 'Identifier':
        return shapeNamed(node.name as string, scope)
      case 'ChainExpression':
      case 'AwaitExpression':
        return this.#shapeOf((node.expression ?? node.argument) as ScriptNode, scope)
      case 'MemberExpression': {
        const shape = this.#shapeOf(node.object as ScriptNode, scope)
        const name = nameOf(node, 'property')
        if (name !== undefined) return this.#member(shape, name, node, false)
        this.#read(node.property as ScriptNode, scope)
        return shape?.type === 'list' || shape?.type === 'map' ? shape.items : undefined
      }
      case 'CallExpression':
        return this.#called(node, scope)
      case 'LogicalExpression': {
        const left = this.#shapeOf(node.left as ScriptNode, scope)
        const right = this.#shapeOf(node.right as ScriptNode, scope)
        return left ?? right
      }
      default:
        if (isFunction(node)) this.enter(node, [], scope)
        else if (node.type === 'AssignmentExpression') this.#read(node, scope)
        else for (const one of childrenOf(node)) this.#read(one, scope)
        return undefined
    }
  }

  #called(node: ScriptNode, scope: Scope): Shape {
    const callee = node.callee as ScriptNode
    const args = node.arguments as ScriptNode[]
    const method = callee.type === 'MemberExpression' ? nameOf(callee, 'property') : undefined
    const object = callee.type === 'MemberExpression' ? (callee.object as ScriptNode) : undefined
    const isOfObject = object?.type === 'Identifier' && object.name === 'Object'
    const on = object && !isOfObject ? this.#shapeOf(object, scope) : undefined
    if (!object) this.#read(callee, scope)
    const shapes = args.map(one => {
      if (!isFunction(one)) return this.#shapeOf(one, scope)
      const items = on?.type === 'list' ? on.items : undefined
      this.enter(one, method === 'reduce' ? [undefined, items] : [items], scope)
      return undefined
    })
    if (isOfObject && method === 'values' && shapes[0]?.type === 'map')
      return { type: 'list', description: '', items: shapes[0].items! }
    if (on?.type !== 'list' || method === undefined) return undefined
    if (ENTRY.has(method)) return on.items
    return SAME.has(method) ? on : undefined
  }

  #member(shape: Shape, name: string, node: ScriptNode, hasDefault: boolean): Shape {
    if (shape?.type === 'map') {
      // Each product has its own field names.
      if (shape.description === FIELDS && !this.#isField(name) && !(name in {}) && !this.#written.has(name))
        this.#alarms.unknownField(placeOf(node), name)
      return shape.items
    }
    if (shape?.type !== 'record') return undefined
    const member = memberOf(shape, name)
    if (member)
      return FIELD_MAPS.has(name) && member.type === 'map' ? { ...member, description: FIELDS } : member
    if (hasDefault || name in {} || this.#written.has(name)) return undefined
    this.#alarms.unknownMember(placeOf(node), name, name, Object.keys(shape.members ?? {}))
    return undefined
  }
}

/** Marks the maps of field values while a script is read. */
const FIELDS = 'fields'

const placeOf = (node: ScriptNode): number => ((node.property ?? node.key ?? node) as ScriptNode).start

function shapeNamed(name: string, scope: Scope | undefined): Shape {
  for (let one = scope; one; one = one.around) if (one.names.has(name)) return one.names.get(name)
  return undefined
}

function clearShape(name: string, scope: Scope): void {
  for (let one: Scope | undefined = scope; one; one = one.around)
    if (one.names.has(name)) {
      one.names.set(name, undefined)
      return
    }
}
