// The constraints of one configuration: which fields have one, which fields govern it (resources brief 1.1, "key: property
// path"), and that none depends on itself through others. Checks of archives and of policies find governors in the same way.
import type { ArchiveReport, PlaceReport } from './check/report.ts'
import type { Configuration, FieldDefinition, ProductDefinition } from './configuration.ts'

type NamedScope = Scope & { readonly path: string; readonly outer?: NamedScope | undefined }

/** A constrained field. `path` names it within its product: `policy.model`, `vehicle.collision.limit`. */
type GraphNode = {
  readonly path: string
  readonly field: FieldDefinition
  /** Paths of the fields that govern it, by column; undefined where the key names none. */
  readonly governors: ReadonlyMap<string, string | undefined>
}

type ConstraintGraph = {
  readonly nodes: readonly GraphNode[]
  /** Static names of the tables that the nodes are held against; empty for a product without constraints. */
  readonly tables: readonly string[]
}

/** The constraints of a product's policies. The policyholder's fields govern, and are constrained apart. */
export function constraintGraph(
  product: Pick<ProductDefinition, 'fields' | 'exposures'>,
  policyholderFields: readonly FieldDefinition[],
): ConstraintGraph {
  const policyholder = scopeOf('policyholder', 'policyholder', policyholderFields)
  const policy = scopeOf('policy', 'policy', product.fields, policyholder)
  const exposures = product.exposures.map(one => ({
    exposure: scopeOf('exposure', one.name, one.fields, policy),
    perils: one.perils,
  }))
  return graphOf([
    policy,
    ...exposures.flatMap(({ exposure, perils }) => [
      exposure,
      ...perils.map(one => scopeOf('peril', `${exposure.path}.${one.name}`, one.fields, exposure)),
    ]),
  ])
}

export const policyholderGraph = (fields: readonly FieldDefinition[]): ConstraintGraph =>
  graphOf([scopeOf('policyholder', 'policyholder', fields)])

const scopeOf = (
  kind: ScopeKind,
  path: string,
  fields: readonly FieldDefinition[],
  outer?: NamedScope,
): NamedScope => ({ kind, path, fields, outer })

function graphOf(elements: readonly NamedScope[]): ConstraintGraph {
  const scopes = elements.flatMap(element => [
    element,
    ...element.fields.flatMap(({ name, fields }) =>
      fields ? [scopeOf('group', `${element.path}.${name}`, fields, element)] : [],
    ),
  ])
  const nodes = scopes.flatMap(scope =>
    scope.fields.flatMap((field): GraphNode[] => {
      if (!field.constraint) return []
      const governors = field.constraint.where.map(({ column, key }): [string, string | undefined] => {
        const governor = key === undefined ? undefined : governorOf(scope, key)
        return [column, governor && `${governor.scope.path}.${governor.field.name}`]
      })
      return [{ path: `${scope.path}.${field.name}`, field, governors: new Map(governors) }]
    }),
  )
  return { nodes, tables: [...new Set(nodes.map(({ field }) => field.constraint!.table))] }
}

/** Circles in which constrained fields govern one another, each as the paths on its way round. */
export function constraintCircles({ nodes }: ConstraintGraph): string[][] {
  const alone = nodes.filter(({ path, governors }) => [...governors.values()].includes(path))
  const dependents = nodes.map(({ path, governors }): [string, Dependent] => {
    const conditions = [...governors.values()].flatMap(field => (field ? [{ field }] : []))
    return [path, { name: path, conditions }]
  })
  return [...alone.map(({ path }) => [path]), ...conditionCircles(new Map(dependents))]
}

const known = new WeakMap<object, ConstraintGraph>()

/** The graph of a product, compiled once for as long as its configuration is in memory. */
export function graphOfProduct(
  { policyholderFields }: Pick<Configuration, 'policyholderFields'>,
  product: ProductDefinition,
): ConstraintGraph {
  const graph = known.get(product) ?? constraintGraph(product, policyholderFields)
  known.set(product, graph)
  return graph
}

/** Whose fields a list is: the element, or one group of its fields. */
export type ScopeKind = 'policyholder' | 'policy' | 'exposure' | 'peril' | 'group'

export type Scope = {
  readonly kind: ScopeKind
  readonly fields: readonly FieldDefinition[]
}

/** With the list around it: a group's is its element's, then peril in exposure in policy in policyholder. */
type Nested<S> = Scope & { readonly outer?: S | undefined }

/** Names of elements that a path may begin with. `account` is the newer name of a policyholder. */
const OWNERS: Readonly<Record<string, ScopeKind>> = {
  policyholder: 'policyholder',
  account: 'policyholder',
  policy: 'policy',
  exposure: 'exposure',
  peril: 'peril',
}

/** Parts of a path that only lead from an element to its fields. */
const PASSED_OVER = new Set(['fieldValues', 'values', 'data'])

/** Types whose values are no text that a table could have. */
const UNGOVERNING = new Set<FieldDefinition['type']>(['group', 'media'])

/**
 * The field that a key names, and the list that it is of: `make` is the nearest field of that name, in the same list or
 * around it; `policy.state` and `account.data.state` the one of that element. Undefined where there is none.
 */
export function governorOf<S extends Nested<S>>(
  scope: S,
  key: string,
): { readonly scope: S; readonly field: FieldDefinition } | undefined {
  const parts = key.split('.')
  const owner = parts.length > 1 && Object.hasOwn(OWNERS, parts[0]!) ? OWNERS[parts.shift()!] : undefined
  if (parts.length > 1 && PASSED_OVER.has(parts[0]!)) parts.shift()
  const name = parts.join('.')
  for (let at: S | undefined = scope; at; at = at.outer) {
    if (owner !== undefined && at.kind !== owner) continue
    const field = at.fields.find(one => one.name === name && !UNGOVERNING.has(one.type))
    if (field) return { scope: at, field }
  }
  return undefined
}

/** Keys name fields, and no field governs itself by way of others (resources brief 3). */
export function checkConstraints(
  products: readonly ProductDefinition[],
  policyholderFields: readonly FieldDefinition[],
  report: ArchiveReport,
): void {
  const dictionary = report.at({ path: 'policyholder/policyholder.dictionary.json' })
  checkGraph(policyholderGraph(policyholderFields), dictionary)
  for (const product of products)
    checkGraph(
      constraintGraph(product, policyholderFields),
      report.at({ path: `products/${product.name}/policy` }),
    )
}

function checkGraph(graph: ConstraintGraph, report: PlaceReport): void {
  for (const { path, field, governors } of graph.nodes)
    for (const { column, key } of field.constraint!.where) {
      const message = `The constraint of '${path}' holds '${column}' against '${key}', which is no field beside it or around it. Correct the key or define the field.`
      if (key !== undefined && governors.get(column) === undefined) report.error('badConstraint', message)
    }
  for (const circle of constraintCircles(graph)) {
    const way = [...circle.slice(0, MOST_SHOWN), circle[0]].join(' → ')
    const message = `The constraint of '${circle[0]}' depends on itself: ${way}. Take one of these keys out.`
    report.error('circularConstraints', message)
  }
}

const MOST_SHOWN = 20

/** What has conditions: a field, or whatever else depends on others by their names. */
type Dependent = { readonly name: string; readonly conditions: readonly { readonly field: string }[] }

/** Circles of conditions, each as the names on its way; fields that depend on themselves are reported elsewhere. Linear. */
export function conditionCircles(fields: ReadonlyMap<string, Dependent>): string[][] {
  const openDependencies = new Map<string, Set<string>>()
  const dependents = new Map<string, string[]>()
  for (const { name, conditions } of fields.values()) {
    const others = conditions.map(({ field }) => field).filter(field => field !== name && fields.has(field))
    const dependencies = new Set(others)
    openDependencies.set(name, dependencies)
    for (const dependency of dependencies) {
      const names = dependents.get(dependency) ?? []
      names.push(name)
      dependents.set(dependency, names)
    }
  }
  takeAwayDecided(openDependencies, dependents)
  // What is left has a dependency that is left: following the first of them ends in a circle.
  const circles: string[][] = []
  const seen = new Set<string>()
  for (const start of openDependencies.keys()) {
    const way: string[] = []
    let name = start
    while (!seen.has(name)) {
      seen.add(name)
      way.push(name)
      const [next = start] = openDependencies.get(name) ?? []
      name = next
    }
    const first = way.indexOf(name)
    if (first >= 0) circles.push(way.slice(first))
  }
  return circles
}

/** Takes away the fields that depend on none, then those that depended on these only, and so on. */
function takeAwayDecided(
  openDependencies: Map<string, Set<string>>,
  dependents: ReadonlyMap<string, readonly string[]>,
): void {
  const decided = [...openDependencies].filter(([, open]) => open.size === 0).map(([name]) => name)
  for (let name = decided.pop(); name !== undefined; name = decided.pop()) {
    openDependencies.delete(name)
    for (const dependent of dependents.get(name) ?? []) {
      const open = openDependencies.get(dependent)
      open?.delete(name)
      if (open?.size === 0) decided.push(dependent)
    }
  }
}
