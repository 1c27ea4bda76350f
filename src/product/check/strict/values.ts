// What is known about the variables and expressions of a template.
import type { DataNode } from '../../templates/data-tree.ts'
import type { Domain } from './domains.ts'

/** The record that contains a field, in which the fields of its condition are found. */
type Owner = { readonly node: DataNode; readonly key: string }

export type Value =
  | { readonly is: 'anything' }
  | { readonly is: 'nothing' }
  | { readonly is: 'flag'; readonly value: boolean }
  /** `words` are the only texts that it can be. */
  | { readonly is: 'text'; readonly words?: readonly string[] }
  /**
   * `key` identifies a number that conditions narrow. `zeroWithout` are paths of the data; if one of their values is absent, a
   * factor is nothing and the number is 0.
   */
  | {
      readonly is: 'number'
      readonly value?: number
      readonly key?: string
      readonly zeroWithout?: readonly string[]
    }
  /** A part of the data. `key` is its path. `isSure` is whether a default replaces it if it is absent. */
  | {
      readonly is: 'data'
      readonly node: DataNode
      readonly key: string
      readonly owner?: Owner
      readonly isSure?: true
    }
  /** The value of a row in a table. */
  | { readonly is: 'row'; readonly table: string }

export const ANYTHING: Value = { is: 'anything' }
export const NOTHING: Value = { is: 'nothing' }
export const NUMBER: Value = { is: 'number' }
export const TEXT: Value = { is: 'text' }

/** Whether the source has set a premium so far; `unsure` if the analysis cannot say. */
export type PremiumState = 'unset' | 'set' | 'zero' | 'unsure'

/** One way through a template, up to a certain statement. */
export class Path {
  readonly variables: Map<string, Value>
  readonly facts: Map<string, Domain>
  premium: PremiumState
  /** The offset of the last branching of which this path took no branch. */
  passedBy: number | undefined

  constructor(
    variables: ReadonlyMap<string, Value> = new Map(),
    facts: ReadonlyMap<string, Domain> = new Map(),
    premium: PremiumState = 'unset',
    passedBy?: number,
  ) {
    this.variables = new Map(variables)
    this.facts = new Map(facts)
    this.premium = premium
    this.passedBy = passedBy
  }

  fork(): Path {
    return new Path(this.variables, this.facts, this.premium, this.passedBy)
  }

  /** The cost of a copy. */
  get size(): number {
    return 1 + this.variables.size + this.facts.size
  }

  /** Paths with the same signature set the same variables and differ at most in their values. */
  get signature(): string {
    return [this.premium, ...[...this.variables.keys()].sort()].join(' ')
  }
}

const areSame = (a: Value | undefined, b: Value | undefined): boolean => {
  if (a === b) return true
  if (!a || !b || a.is !== b.is) return false
  if (a.is === 'number' && b.is === 'number')
    return a.value !== undefined && a.value === b.value && a.key === b.key
  if (a.is === 'data' && b.is === 'data') return a.key === b.key && a.isSure === b.isSure
  if (a.is === 'row' && b.is === 'row') return a.table === b.table
  return a.is === 'anything' || a.is === 'nothing'
}

function haveSameVariables(a: Path, b: Path): boolean {
  if (a.premium !== b.premium || a.variables.size !== b.variables.size) return false
  for (const [name, value] of a.variables) if (!areSame(value, b.variables.get(name))) return false
  return true
}

/** Above this number, paths are joined: a template with many consecutive branches has more paths than can be followed. */
const MOST_PATHS = 24

/**
 * Joins paths that have the same variables, and more if there are too many. Drops facts that only some of the joined paths know.
 */
export function joinPaths(paths: readonly Path[], united: (a: Domain, b: Domain) => Domain): Path[] {
  const result: Path[] = []
  for (const path of paths) {
    const same = result.find(one => haveSameVariables(one, path))
    if (same) joinFacts(same, path, united)
    else result.push(path)
  }
  if (result.length <= MOST_PATHS) return result
  const bySignature = [...Map.groupBy(result, one => one.signature).values()]
  const grouped = bySignature.map(group => group.reduce((into, one) => joinInto(into, one, united)))
  if (grouped.length <= MOST_PATHS) return grouped
  return [grouped.reduce((into, one) => joinInto(into, one, united))]
}

function joinFacts(into: Path, from: Path, united: (a: Domain, b: Domain) => Domain): void {
  for (const [key, domain] of into.facts) {
    const other = from.facts.get(key)
    if (other === undefined) into.facts.delete(key)
    else into.facts.set(key, united(domain, other))
  }
}

/**
 * Joins two paths. A variable that only one of them sets, or that differs, can be anything afterwards, so that it causes no alarm.
 */
function joinInto(into: Path, from: Path, united: (a: Domain, b: Domain) => Domain): Path {
  for (const [name, value] of from.variables) {
    const own = into.variables.get(name)
    if (!areSame(own, value)) into.variables.set(name, ANYTHING)
  }
  for (const name of into.variables.keys()) if (!from.variables.has(name)) into.variables.set(name, ANYTHING)
  if (into.premium !== from.premium) into.premium = 'unsure'
  joinFacts(into, from, united)
  return into
}
