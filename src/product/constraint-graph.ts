// Constrained fields of a configuration, and the fields that govern them (resources brief 1.1, "key: property path"). No constraint
// may depend on itself. The checks of archives and of policies find governing fields in the same way.
import type { ArchiveReport, PlaceReport } from './check/report.ts'
import type { Configuration, FieldDefinition, ProductDefinition } from './configuration.ts'
import type { ResourceDeclarations } from './resources.ts'

type NamedScope = Scope & { readonly path: string; readonly outer?: NamedScope | undefined }

/** `path` is the path in the product, such as `policy.model` or `vehicle.collision.limit`. */
type GraphNode = {
  readonly path: string
  readonly field: FieldDefinition
  /** Paths of governing fields, by column; undefined if the key names no field. */
  readonly governors: ReadonlyMap<string, string | undefined>
}

type ConstraintGraph = {
  readonly nodes: readonly GraphNode[]
  /** Static names of constraint tables. */
  readonly tables: readonly string[]
}

/** The graph of a product. The policyholder's fields may govern too, but their own constraints are checked separately. */
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

/** The graph of the policyholder's fields, whose governing fields are always fields of the policyholder. */
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

/** Circles of constrained fields that govern each other, each as a list of paths. */
export function constraintCircles({ nodes }: ConstraintGraph): string[][] {
  const alone = nodes.filter(({ path, governors }) => [...governors.values()].includes(path))
  const dependents = nodes.map(({ path, governors }): [string, Dependent] => {
    const conditions = [...governors.values()].flatMap(field => (field ? [{ field }] : []))
    return [path, { name: path, conditions }]
  })
  return [...alone.map(({ path }) => [path]), ...conditionCircles(new Map(dependents))]
}

const known = new WeakMap<object, ConstraintGraph>()

/** The graph of a product, computed once while its configuration is in memory. */
export function graphOfProduct(
  { policyholderFields }: Pick<Configuration, 'policyholderFields'>,
  product: ProductDefinition,
): ConstraintGraph {
  const graph = known.get(product) ?? constraintGraph(product, policyholderFields)
  known.set(product, graph)
  return graph
}

/** The owner of a list of fields: an element, or a group among its fields. */
export type ScopeKind = 'policyholder' | 'policy' | 'exposure' | 'peril' | 'group'

export type Scope = {
  readonly kind: ScopeKind
  readonly fields: readonly FieldDefinition[]
}

/** `outer` leads from a group to its element, and then to peril, exposure, policy and policyholder. */
type Nested<S> = Scope & { readonly outer?: S | undefined }

/** First segments of a path. `account` is the newer name for a policyholder. */
const OWNERS: Readonly<Record<string, ScopeKind>> = {
  policyholder: 'policyholder',
  account: 'policyholder',
  policy: 'policy',
  exposure: 'exposure',
  peril: 'peril',
}

/** Segments that may come between an element and its field. */
const SKIPPED_SEGMENTS = new Set(['fieldValues', 'values', 'data'])

/** Types whose values are not text, so that no table contains them. */
const NON_TEXT_TYPES = new Set<FieldDefinition['type']>(['group', 'media'])

/**
 * Returns the field that a key names, and the list that contains it; undefined if there is none. `make` is the nearest field of
 * that name, in the same list or an enclosing one. `policy.state` and `account.data.state` are fields of that element.
 */
export function governorOf<S extends Nested<S>>(
  scope: S,
  key: string,
): { readonly scope: S; readonly field: FieldDefinition } | undefined {
  const parts = key.split('.')
  const owner = parts.length > 1 && Object.hasOwn(OWNERS, parts[0]!) ? OWNERS[parts.shift()!] : undefined
  if (parts.length > 1 && SKIPPED_SEGMENTS.has(parts[0]!)) parts.shift()
  const name = parts.join('.')
  for (let at: S | undefined = scope; at; at = at.outer) {
    if (owner !== undefined && at.kind !== owner) continue
    const field = at.fields.find(one => one.name === name && !NON_TEXT_TYPES.has(one.type))
    if (field) return { scope: at, field }
  }
  return undefined
}

/** Checks that keys name fields, and that no field governs itself, directly or indirectly (resources brief 3). */
export function checkConstraints(
  products: readonly ProductDefinition[],
  policyholderFields: readonly FieldDefinition[],
  declared: ConstraintTables,
  report: ArchiveReport,
): void {
  const check = (graph: ConstraintGraph, path: string): void => {
    checkGraph(graph, report.at({ path }))
    checkColumns(graph, declared, path, report)
  }
  check(policyholderGraph(policyholderFields), 'policyholder/policyholder.dictionary.json')
  for (const product of products)
    check(constraintGraph(product, policyholderFields), `products/${product.name}/policy`)
}

type ConstraintTables = ResourceDeclarations['constraintTables']

/**
 * Warns about columns that are not declared. It is only a warning, because a file may have more columns than its declaration, and
 * other tables than the declared ones may be in force.
 */
function checkColumns(
  { nodes }: ConstraintGraph,
  declared: ConstraintTables,
  at: string,
  report: ArchiveReport,
): void {
  for (const { path, field } of nodes) {
    const { table, column, where } = field.constraint!
    const columns = Object.hasOwn(declared, table) ? declared[table]!.columns.map(one => one.name) : undefined
    for (const one of [column, ...where.map(other => other.column)]) {
      if (columns === undefined || columns.includes(one)) continue
      const message = `The constraint of '${path}' names the column '${one}' of '${table}', but config.json does not declare that column. Correct the name, or declare the column.${report.suggestion(one, columns)}`
      report.at({ path: at }).warning('badConstraint', message)
    }
  }
}

function checkGraph(graph: ConstraintGraph, report: PlaceReport): void {
  for (const { path, field, governors } of graph.nodes)
    for (const { column, key } of field.constraint!.where) {
      const message = `The constraint of '${path}' compares '${column}' with '${key}', which is not a field next to it or around it. Correct the key or define the field.`
      if (key !== undefined && governors.get(column) === undefined) report.error('badConstraint', message)
    }
  for (const circle of constraintCircles(graph)) {
    const way = [...circle.slice(0, MOST_SHOWN), circle[0]].join(' → ')
    const message = `The constraint of '${circle[0]}' depends on itself: ${way}. Remove one of these keys.`
    report.error('circularConstraints', message)
  }
}

const MOST_SHOWN = 20

/** A field, or anything else that depends on others by name. */
type Dependent = { readonly name: string; readonly conditions: readonly { readonly field: string }[] }

/** Returns each circle as a list of names, in linear time. Fields that depend on themselves are reported elsewhere. */
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
  removeDecided(openDependencies, dependents)
  // Every remaining field depends on a remaining field, so following first dependencies ends in a circle.
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

/** Removes fields without open dependencies until no more can be removed. */
function removeDecided(
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
