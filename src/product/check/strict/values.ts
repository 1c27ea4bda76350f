// What a template's variables and expressions are known to be.
import type { DataNode } from '../../templates/data-tree.ts'
import type { Domain } from './domains.ts'

/** A record of the data, by which a field finds the fields that its condition names. */
type Owner = { readonly node: DataNode; readonly key: string }

export type Value =
  | { readonly is: 'anything' }
  | { readonly is: 'nothing' }
  | { readonly is: 'flag'; readonly value: boolean }
  /** `words`: the only texts that it can be. */
  | { readonly is: 'text'; readonly words?: readonly string[] }
  /**
   * `key` names a number that conditions narrow. `zeroWithout`: paths of the data without which it is 0, since a factor
   * is nothing.
   */
  | {
      readonly is: 'number'
      readonly value?: number
      readonly key?: string
      readonly zeroWithout?: readonly string[]
    }
  /** A place of the data. `key` is its path; `isSure`: a default stands in where it is absent. */
  | {
      readonly is: 'data'
      readonly node: DataNode
      readonly key: string
      readonly owner?: Owner
      readonly isSure?: true
    }
  /** The value of a row. */
  | { readonly is: 'row'; readonly table: string }

export const ANYTHING: Value = { is: 'anything' }
export const NOTHING: Value = { is: 'nothing' }
export const NUMBER: Value = { is: 'number' }
export const TEXT: Value = { is: 'text' }

/** Whether the source set a premium so far; `unsure` where the analysis has lost count. */
export type PremiumState = 'unset' | 'set' | 'zero' | 'unsure'

/** One way through a template, up to some statement. */
export class Path {
  readonly variables: Map<string, Value>
  readonly facts: Map<string, Domain>
  premium: PremiumState
  /** Of the last branching at which this path took none of the branches. */
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

  /** What a copy costs. */
  get size(): number {
    return 1 + this.variables.size + this.facts.size
  }

  /** Paths of one signature differ in values at most, not in what is set. */
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

/** More are joined: a template with many branches in a row has more ways through it than can be followed. */
const MOST_PATHS = 24

/** As few paths as tell the same. Facts that only some of the joined ones know are forgotten. */
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

/** A variable that is set on one of the two only, or differs, can be anything afterwards: no alarm follows from it. */
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
