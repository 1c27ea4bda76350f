// What constraints of fields name, once all fields and tables of the archive are known.
import {
  type ConstraintGraph,
  constraintCircles,
  constraintGraph,
  policyholderGraph,
} from '../../reference/constraints/graph.ts'
import type { FieldDefinition, ProductDefinition } from '../configuration.ts'
import type { Place, Report } from './report.ts'

/** Keys name fields, and no field governs itself by way of others (resources brief 3). */
export function checkConstraints(
  products: readonly ProductDefinition[],
  policyholderFields: readonly FieldDefinition[],
  report: Report,
): void {
  checkGraph(
    policyholderGraph(policyholderFields),
    { path: 'policyholder/policyholder.dictionary.json' },
    report,
  )
  for (const product of products)
    checkGraph(
      constraintGraph(product, policyholderFields),
      { path: `products/${product.name}/policy` },
      report,
    )
}

function checkGraph(graph: ConstraintGraph, place: Place, report: Report): void {
  for (const { path, field, governors } of graph.nodes)
    for (const { column, key } of field.constraint!.where)
      if (key !== undefined && governors.get(column) === undefined)
        report.error(
          place,
          'badConstraint',
          `The constraint of '${path}' holds '${column}' against '${key}', which is no field beside it or around it. Correct the key or define the field.`,
        )
  for (const circle of constraintCircles(graph))
    report.error(
      place,
      'circularConstraints',
      `The constraint of '${circle[0]}' depends on itself: ${[...circle.slice(0, MOST_SHOWN), circle[0]].join(' → ')}. Take one of these keys out.`,
    )
}

const MOST_SHOWN = 20
