// Evaluates the expressions of a template with what is known about its data, and reports what cannot be intended.
import type { AppliedFilter, Expression, FilteredValue, Step } from '../../../../packages/liquid/outline.ts'
import type { DataNode } from '../../templates/data-tree.ts'
import { canHaveValue, type Domain, isNumeric } from './domains.ts'
import { applyFilter } from './filters.ts'
import type { AnalysedSource } from './source.ts'
import { ANYTHING, NOTHING, NUMBER, type Path, type Value } from './values.ts'

/** Variables that loops define. */
const OF_LOOPS: ReadonlySet<string> = new Set(['forloop', 'tablerowloop', 'continue'])

/** Parts of lists, maps and texts that are not members of the data. */
const PARTS: ReadonlySet<string> = new Set(['size', 'first', 'last'])

export class Evaluation {
  readonly source: AnalysedSource
  /** Names that the template sets somewhere. */
  readonly #assigned: ReadonlySet<string>
  /** Whether the template includes snippets, which may set variables. */
  readonly #hasSnippets: boolean

  constructor(source: AnalysedSource, assigned: ReadonlySet<string>, hasSnippets: boolean) {
    this.source = source
    this.#assigned = assigned
    this.#hasSnippets = hasSnippets
  }

  /** `isTest` is whether the expression tests for a value, so that an unset variable is not reported. */
  valueOf({ initial, filters }: FilteredValue, path: Path, isTest = false): Value {
    const lenient = isTest || filters[0]?.name === 'default'
    let value = this.expression(initial, path, lenient)
    for (const filter of filters) value = this.#filtered(value, filter, path)
    return value
  }

  #filtered(input: Value, filter: AppliedFilter, path: Path): Value {
    const args = filter.args.map(one => this.expression(one, path))
    for (const one of filter.named.values()) this.expression(one, path)
    return applyFilter(input, filter, args, path, this)
  }

  expression(expression: Expression, path: Path, isTest = false): Value {
    switch (expression.kind) {
      case 'text':
        return { is: 'text', words: [expression.value] }
      case 'number':
        return { is: 'number', value: expression.value }
      case 'word':
        if (expression.value === 'true' || expression.value === 'false')
          return { is: 'flag', value: expression.value === 'true' }
        return expression.value === 'nil' ? NOTHING : ANYTHING
      case 'path':
        return this.#path(expression, path, isTest)
      case 'group':
        return this.valueOf(expression.value, path, isTest)
      case 'operation':
        for (const operand of operandsOf(expression)) this.expression(operand, path, true)
        return ANYTHING
      default:
        return ANYTHING
    }
  }

  #path(
    { variable, steps, begin }: Extract<Expression, { kind: 'path' }>,
    path: Path,
    isTest: boolean,
  ): Value {
    let value = this.#variable(variable, begin, path, isTest)
    let shown = variable
    for (const step of steps) {
      const key = 'key' in step ? this.expression(step.key, path, true) : undefined
      const name = 'name' in step ? step.name : nameOf(key!)
      value = name === undefined ? this.#anyPart(value, key!) : this.#part(value, name, step, shown)
      shown = this.source.text.slice(begin, step.end)
    }
    return value
  }

  #variable(name: string, offset: number, path: Path, isTest: boolean): Value {
    const known = path.variables.get(name)
    if (known) return known
    if (name === 'data') return { is: 'data', node: this.source.data, key: 'data' }
    if (OF_LOOPS.has(name) || this.#hasSnippets) return ANYTHING
    if (!this.#assigned.has(name)) {
      const names = [...this.#assigned, 'data']
      const message = `Nothing sets '${name}', so it has no value: in arithmetic it counts as 0. Correct the name, or assign it.${this.source.suggestion(name, names)}`
      this.source.alarm('unknownPath', offset, message)
      return ANYTHING
    }
    if (isTest) return NOTHING
    const where = path.passedBy === undefined ? '' : ` after line ${this.source.lineOf(path.passedBy)}`
    const message = `'${name}' has no value if none of the branches that set it is taken${where}: in arithmetic it counts as 0. Add an 'else', or set it before.`
    this.source.alarm('unsetVariable', offset, message)
    return ANYTHING
  }

  /** A part whose name only the data determines. A field group is found by the locators that its field lists. */
  #anyPart(value: Value, by: Value): Value {
    if (value.is === 'nothing') return NOTHING
    if (value.is !== 'data') return ANYTHING
    const { node, key } = value
    const group = by.is === 'data' && node.type === 'map' ? by.node.group : undefined
    if (group) return { is: 'data', node: group, key: `${key}[${(by as { key: string }).key}]` }
    if (node.items) return { is: 'data', node: node.items, key: `${key}[]` }
    this.source.markAllUsed(node)
    return ANYTHING
  }

  #part(value: Value, name: string, step: Step, shown: string): Value {
    if (value.is === 'anything' || value.is === 'nothing') return value
    if (value.is !== 'data') {
      if (name === 'size') return NUMBER
      return this.#unknown(step, `'${shown}' has no parts, so '${shown}.${name}' has no value.`, name, [])
    }
    const { node } = value
    if (node.type === 'anything') return ANYTHING
    if (node.type === 'list' || (node.type === 'map' && !isIndex(name)))
      return this.#entry(value, name, step, shown)
    const member = this.source.memberOf(node, name)
    if (member) {
      this.source.use(member)
      const { key } = value
      return { is: 'data', node: member, key: `${key}.${name}`, owner: { node, key } }
    }
    if (PARTS.has(name)) return name === 'size' ? NUMBER : ANYTHING
    if (!node.members)
      return this.#unknown(step, `'${shown}' is ${kindOf(node)}, which has no part '${name}'.`, name, [])
    const known = Object.keys(node.members).filter(one => this.source.memberOf(node, one))
    const deeper = this.#deeper(name, node)
    const elsewhere =
      this.#elsewhere(name, node) || (deeper === undefined ? '' : ` There is '${shown}.${deeper}'.`)
    return this.#unknown(step, `There is no '${shown}.${name}', so it has no value.${elsewhere}`, name, known)
  }

  /** An entry of a list by its index, or of a map by its key. */
  #entry({ node, key }: Extract<Value, { is: 'data' }>, name: string, step: Step, shown: string): Value {
    if (name === 'size') return NUMBER
    const items = node.items!
    const item: Value = { is: 'data', node: items, key: `${key}[${name}]` }
    if (name === 'first' || name === 'last') return node.type === 'list' ? item : ANYTHING
    if (node.type === 'map' || isIndex(name)) return item
    const isOfEntries = Object.keys(items.members ?? {}).includes(name)
    const advice = isOfEntries ? ` Take one entry, such as '${shown}.last.${name}', or loop over them.` : ''
    return this.#unknown(step, `'${shown}' is a list, which has no '${name}'.${advice}`, name, [])
  }

  /** A hint where a field of that name is, in the field values or in another part of the policy. */
  #elsewhere(name: string, node: DataNode): string {
    const values = node.members?.field_values
    if (values && this.source.memberOf(values, name)) return ` The field is in '.field_values.${name}'.`
    const { data } = this.source
    for (const part of ['policy_characteristics', 'exposure_characteristics', 'peril_characteristics']) {
      const own = this.source.memberOf(data, part)
      const fields = own && this.source.memberOf(own, 'field_values')
      if (fields && this.source.memberOf(fields, name))
        return ` The field is in 'data.${part}.field_values.${name}'.`
    }
    return ''
  }

  /** The path to a part of that name one or two steps deeper, through the last entry of any list. */
  #deeper(name: string, { members = {} }: DataNode, steps = 2): string | undefined {
    const parts = Object.entries(members)
    // Present values come before what transactions changed.
    parts.sort(([a], [b]) => Number(b === 'characteristics') - Number(a === 'characteristics'))
    const within = parts.flatMap(([part, node]): [string, DataNode][] => {
      if (node.type !== 'list') return [[part, node]]
      return node.items ? [[`${part}.last`, node.items]] : []
    })
    const direct = within.find(([, node]) => this.source.memberOf(node, name))
    if (direct) return `${direct[0]}.${name}`
    if (steps === 1) return undefined
    for (const [part, node] of within) {
      const path = this.#deeper(name, node, steps - 1)
      if (path !== undefined) return `${part}.${path}`
    }
    return undefined
  }

  #unknown(step: Step, problem: string, name: string, known: readonly string[]): Value {
    const message = `${problem} Correct the path.${this.source.suggestion(name, known)}`
    this.source.alarm('unknownPath', step.begin, message)
    return ANYTHING
  }

  // What is known about a value on a path.

  /** The domain of a value; undefined for values that conditions do not narrow. */
  domainOf(value: Value, path: Path): Domain | undefined {
    if (value.is === 'number' && value.key !== undefined) return path.facts.get(value.key)
    if (value.is !== 'data' || value.node.items || value.node.members) return undefined
    const domain = path.facts.get(value.key) ?? this.source.domainOf(value.node)
    if (value.isSure) return { ...domain, canBeAbsent: false }
    if (!domain.canBeAbsent || this.#canBeAbsent(value, path)) return domain
    return { ...domain, canBeAbsent: false }
  }

  /** Whether a field can be absent. A field with conditions is present where all of them hold, unless it is optional. */
  #canBeAbsent({ node, owner }: Extract<Value, { is: 'data' }>, path: Path): boolean {
    const { fields } = node
    if (!fields || !owner || fields.some(one => one.optional || one.conditions.length === 0)) return true
    return fields.some(({ conditions }) =>
      conditions.some(({ field, values }) => {
        const other = this.source.memberOf(owner.node, field)
        if (!other) return true
        const asked: Value = { is: 'data', node: other, key: `${owner.key}.${field}`, owner }
        const domain = this.domainOf(asked, path)
        if (domain?.kind !== 'words' || domain.canBeAbsent) return true
        return [...domain.words].some(word => !values.includes(word))
      }),
    )
  }

  canBeAbsent(value: Value, path: Path): boolean {
    const domain = this.domainOf(value, path)
    if (domain) return domain.canBeAbsent
    return (
      value.is === 'data' &&
      value.node.isOptional === true &&
      path.facts.get(value.key)?.canBeAbsent !== false
    )
  }

  isAbsent(value: Value, path: Path): boolean {
    if (value.is === 'nothing') return true
    const domain = this.domainOf(value, path)
    return domain?.canBeAbsent === true && !canHaveValue(domain)
  }

  /** The only texts that the value can be; undefined if they are unknown or too many. */
  wordsOf(value: Value, path: Path): readonly string[] | undefined {
    if (value.is === 'text') return value.words
    const domain = this.domainOf(value, path)
    if (domain?.kind === 'words') return [...domain.words]
    if (value.is !== 'data' || domain?.kind !== 'numbers' || domain.step !== 1) return undefined
    const [only, ...others] = domain.parts
    if (!only || others.length > 0 || !(only.high - only.low <= MOST_NUMBERS)) return undefined
    return Array.from({ length: only.high - only.low + 1 }, (_, at) => String(only.low + at))
  }

  /** Why arithmetic does not accept the value as a number, as part of a sentence; undefined if it does, or if that is unknown. */
  whyNotNumber(value: Value, path: Path): string | undefined {
    if (value.is === 'text') {
      const wrong = value.words?.find(word => !isNumeric(word))
      return wrong === undefined ? undefined : `'${wrong}' is not a number`
    }
    if (value.is === 'flag') return `${value.value} is not a number`
    if (value.is !== 'data') return undefined
    const { node } = value
    if (node.type === 'list' || node.type === 'record' || node.type === 'map') return `it is ${kindOf(node)}`
    if (node.type === 'flag') return 'it is true or false'
    if (node.type !== 'text') return undefined
    const wrong = this.wordsOf(value, path)?.find(word => !isNumeric(word))
    if (wrong !== undefined) return `it can be '${wrong}'`
    const isFree =
      node.values === undefined &&
      !node.fields?.some(one => one.regex !== undefined || one.values || one.type === 'lookup')
    return isFree ? 'it is text' : undefined
  }
}

const MOST_NUMBERS = 2_000

/** Lists the operands of an operation and of the operations within it, from left to right, without recursion. */
function* operandsOf(operation: Expression): Generator<Expression> {
  const waiting = [operation]
  for (let one = waiting.pop(); one; one = waiting.pop())
    if (one.kind === 'operation') waiting.push(one.right, one.left)
    else yield one
}

/** The name that a key in brackets denotes, if it is one known text or number. */
function nameOf(key: Value): string | undefined {
  if (key.is === 'number') return key.value === undefined ? undefined : String(key.value)
  return key.is === 'text' && key.words?.length === 1 ? key.words[0] : undefined
}

const isIndex = (name: string): boolean => /^-?\d+$/.test(name)

const KINDS: Readonly<Record<DataNode['type'], string>> = {
  text: 'text',
  number: 'a number',
  amount: 'an amount',
  timestamp: 'a time',
  flag: 'true or false',
  record: 'a record',
  list: 'a list',
  map: 'a map',
  anything: 'a value',
}

const kindOf = ({ type }: DataNode): string => KINDS[type]
