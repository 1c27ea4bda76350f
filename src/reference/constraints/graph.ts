// The constraints of one configuration, compiled: which fields have one, which fields govern it, and that none depends on
// itself by way of others.

import { conditionCircles } from '../../product/check/fields/circles.ts'
import type { Configuration, FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import { governorOf, type Scope, type ScopeKind } from './scopes.ts'

type NamedScope = Scope & { readonly path: string; readonly outer?: NamedScope | undefined }

/** A constrained field. `path` names it within its product: `policy.model`, `vehicle.collision.limit`. */
export type GraphNode = {
  readonly path: string
  readonly field: FieldDefinition
  /** Paths of the fields that govern it, by column; undefined where the key names none. */
  readonly governors: ReadonlyMap<string, string | undefined>
}

export type ConstraintGraph = {
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
  const others = conditionCircles(
    new Map(
      nodes.map(({ path, governors }) => [
        path,
        { name: path, conditions: [...governors.values()].flatMap(field => (field ? [{ field }] : [])) },
      ]),
    ),
  )
  return [...alone.map(({ path }) => [path]), ...others]
}

const known = new WeakMap<object, ConstraintGraph>()

/** The graph of a product, compiled once for as long as its configuration is in memory. */
export function graphOfProduct(
  configuration: Pick<Configuration, 'policyholderFields'>,
  product: ProductDefinition,
): ConstraintGraph {
  let graph = known.get(product)
  if (!graph) {
    graph = constraintGraph(product, configuration.policyholderFields)
    known.set(product, graph)
  }
  return graph
}
