// Follows a template branch by branch and reports values that cannot be intended.
import type { Statement } from '../../../../packages/liquid/outline.ts'
import { forgetConditionsOn, splitBy, splitByValues } from './conditions.ts'
import { anyNumber, union } from './domains.ts'
import { Evaluation } from './evaluation.ts'
import { PREMIUM_SETTERS } from './filters.ts'
import { checkLadder } from './ladders.ts'
import { type AnalysedSource, TooMuch } from './source.ts'
import { ANYTHING, joinPaths, NUMBER, Path, TEXT, type Value } from './values.ts'

type Of<Kind extends Statement['kind']> = Extract<Statement, { kind: Kind }>

/** Analyses a template. Returns false if it is too large to be followed to its end. */
export function analyseTemplate(statements: readonly Statement[], source: AnalysedSource): boolean {
  const names = new Set<string>()
  let hasIncludes = false
  for (const one of allStatements(statements)) {
    if (one.kind === 'assign' || one.kind === 'capture' || one.kind === 'counter') names.add(one.name)
    if (one.kind === 'loop') names.add(one.variable)
    if (one.kind === 'opaque') {
      source.uses.isOpen = true
      hasIncludes ||= one.tag === 'include'
    }
  }
  try {
    const template = new Template(source, new Evaluation(source, names, hasIncludes))
    const ends = template.run(statements, [new Path()])
    if (source.readers.includes('premium')) checkPremium(statements, ends, source)
    return true
  } catch (problem) {
    if (problem instanceof TooMuch) return false
    throw problem
  }
}

/** All statements, including nested ones. */
function* allStatements(statements: readonly Statement[]): Generator<Statement> {
  for (const one of statements) {
    yield one
    if ('body' in one) yield* allStatements(one.body)
    if ('branches' in one) for (const branch of one.branches) yield* allStatements(branch.body)
    if ('otherwise' in one && one.otherwise) yield* allStatements(one.otherwise)
  }
}

function* settersOf(statements: readonly Statement[]): Generator<number> {
  for (const one of allStatements(statements)) {
    if (one.kind !== 'output' && one.kind !== 'assign') continue
    for (const filter of one.value.filters) if (PREMIUM_SETTERS.has(filter.name)) yield filter.begin
  }
}

function checkPremium(statements: readonly Statement[], ends: readonly Path[], source: AnalysedSource): void {
  const setters = [...settersOf(statements)]
  // A script that never sets a premium is reported where it is compiled.
  if (setters.length === 0) return
  const unset = ends.find(one => one.premium === 'unset')
  if (unset) {
    const at = unset.passedBy ?? setters[0]!
    const message = `Nothing sets the premium if none of the branches here is taken, so it is 0. Add an 'else', or set it in every case.`
    source.alarm('premiumUnset', at, message)
  }
  if (ends.length > 0 && ends.every(one => one.premium === 'zero'))
    source.alarm(
      'premiumAlwaysZero',
      setters.at(-1)!,
      'The premium is 0 in every case. Correct the factors, or set a different premium.',
    )
}

class Template {
  readonly #source: AnalysedSource
  readonly #evaluation: Evaluation

  constructor(source: AnalysedSource, evaluation: Evaluation) {
    this.#source = source
    this.#evaluation = evaluation
  }

  run(statements: readonly Statement[], from: readonly Path[]): Path[] {
    let paths = [...from]
    for (const statement of statements) {
      if (statement.kind === 'other' || paths.length === 0) continue
      this.#source.spend(paths.length)
      paths = this.#step(statement, paths)
    }
    return paths
  }

  #step(statement: Statement, paths: Path[]): Path[] {
    switch (statement.kind) {
      case 'output':
        for (const path of paths) this.#shown(this.#evaluation.valueOf(statement.value, path))
        return paths
      case 'assign':
        for (const path of paths) this.#assign(statement, path)
        return paths
      case 'capture': {
        const after = this.run(statement.body, paths)
        for (const path of after) {
          forgetConditionsOn(path, statement.name)
          path.variables.set(statement.name, TEXT)
        }
        return after
      }
      case 'counter':
        for (const path of paths) path.variables.set(statement.name, NUMBER)
        return paths
      case 'choice':
        return this.#choice(statement, paths)
      case 'case':
        return this.#case(statement, paths)
      case 'loop':
        return this.#loop(statement, paths)
      case 'opaque':
        this.#source.markAllUsed(this.#source.data)
        return paths
      case 'block':
        return this.run(statement.body, paths)
      default:
        return paths
    }
  }

  /** A record that is printed uses all its members. */
  #shown(value: Value): void {
    if (value.is === 'data' && (value.node.members || value.node.items)) this.#source.markAllUsed(value.node)
  }

  #assign({ name, value, begin }: Of<'assign'>, path: Path): void {
    const given = this.#evaluation.valueOf(value, path)
    forgetConditionsOn(path, name)
    if (given.is === 'number' && given.value === undefined && given.key === undefined) {
      const key = `${name}@${begin}`
      path.facts.set(key, anyNumber)
      path.variables.set(name, { ...given, key })
    } else path.variables.set(name, given)
  }

  #fork(path: Path): Path {
    this.#source.spend(path.size)
    return path.fork()
  }

  /** Paths are compared with each other, so joining costs as much as their total size. */
  #join(paths: readonly Path[]): Path[] {
    if (paths.length > 1) this.#source.spend(paths.reduce((sum, one) => sum + one.size, 0))
    return joinPaths(paths, union)
  }

  #choice(statement: Of<'choice'>, paths: Path[]): Path[] {
    const { branches, otherwise, begin } = statement
    for (const path of paths) checkLadder(statement, path, this.#evaluation)
    const after: Path[] = []
    let rest = paths
    for (const { condition, isNegated, body } of branches) {
      const splits = rest.map(path => splitBy(condition, this.#fork(path), this.#evaluation))
      const taken = splits.flatMap(one => (isNegated ? one.fails : one.holds))
      rest = this.#join(splits.flatMap(one => (isNegated ? one.holds : one.fails)))
      after.push(...this.run(body, this.#join(taken)))
    }
    return this.#joined(after, rest, otherwise, begin)
  }

  #case({ subject, branches, otherwise, begin }: Of<'case'>, paths: Path[]): Path[] {
    const after: Path[] = []
    let rest = paths.map(path => ({ path, value: this.#evaluation.valueOf(subject, path) }))
    for (const { values, body } of branches) {
      const taken: Path[] = []
      rest = rest.flatMap(({ path, value }) => {
        const split = splitByValues(value, subject.initial, values, this.#fork(path), this.#evaluation)
        taken.push(...split.holds)
        return split.fails.map(one => ({ path: one, value }))
      })
      after.push(...this.run(body, this.#join(taken)))
    }
    return this.#joined(
      after,
      rest.map(one => one.path),
      otherwise,
      begin,
    )
  }

  #joined(
    after: Path[],
    rest: readonly Path[],
    otherwise: readonly Statement[] | undefined,
    begin: number,
  ): Path[] {
    if (otherwise) return this.#join([...after, ...this.run(otherwise, rest)])
    for (const path of rest) path.passedBy = begin
    return this.#join([...after, ...rest])
  }

  #loop(statement: Of<'loop'>, paths: Path[]): Path[] {
    return this.#join(paths.flatMap(path => this.#loopOn(statement, path)))
  }

  #loopOn({ variable, list, modifiers, body, otherwise, begin }: Of<'loop'>, path: Path): Path[] {
    const given = this.#evaluation.expression(list, path)
    for (const one of modifiers) this.#evaluation.expression(one, path)
    // Loops over the pairs of a record or map are not followed.
    if (given.is === 'data' && (given.node.members || given.node.type === 'map'))
      this.#source.markAllUsed(given.node)
    const ends = this.#turns(variable, itemOf(given), body, path)
    const empty = this.#isNeverEmpty(given, path) ? [] : [this.#fork(path)]
    for (const one of empty) one.passedBy = begin
    const after = [...ends, ...this.run(otherwise, empty)]
    return isKnownList(given) ? after : markUncertain(after)
  }

  /** Runs the body once, and then treats what it changes as unknown, because later turns may change it again. */
  #turns(variable: string, item: Value, body: readonly Statement[], path: Path): Path[] {
    const inside = this.#fork(path)
    if (item.is === 'data') inside.facts.delete(item.key)
    const known = inside.variables.get(variable)
    inside.variables.set(variable, item)
    forgetConditionsOn(inside, variable)
    const ends = this.run(body, [inside])
    for (const end of ends) {
      // Another turn changes again what the loop changed.
      for (const [name, value] of end.variables)
        if (path.variables.get(name) !== value) {
          end.variables.set(name, ANYTHING)
          forgetConditionsOn(end, name)
        }
      if (known) end.variables.set(variable, known)
      else end.variables.delete(variable)
      if (item.is === 'data') end.facts.delete(item.key)
    }
    return ends
  }

  /** Whether the list has an entry for certain: a required repeatable field has one. */
  #isNeverEmpty(list: Value, path: Path): boolean {
    return list.is === 'data' && list.node.fields !== undefined && !this.#evaluation.canBeAbsent(list, path)
  }
}

const isKnownList = (list: Value): boolean => list.is === 'data' && list.node.fields !== undefined

/** Marks everything that the loop sets as uncertain, because the loop may have no turn. */
function markUncertain(paths: Path[]): Path[] {
  const premiums = new Set(paths.map(one => one.premium))
  const names = new Set(paths.flatMap(one => [...one.variables.keys()]))
  for (const path of paths) {
    if (premiums.size > 1) path.premium = 'unsure'
    for (const name of names) if (!path.variables.has(name)) path.variables.set(name, ANYTHING)
  }
  return paths
}

function itemOf(list: Value): Value {
  if (list.is !== 'data') return ANYTHING
  const { node, key } = list
  if (node.type === 'list' && node.items) {
    // The entry is the locator of a field group, by which the group is found.
    const items = node.group ? { ...node.items, group: node.group } : node.items
    return { is: 'data', node: items, key: `${key}[]` }
  }
  // A single value counts as a list of one entry, and a map as a list of pairs.
  return node.members || node.items ? ANYTHING : list
}
