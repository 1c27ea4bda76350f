// A policy's content at a time, as constraints see it: elements with their values, one around the other.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { endOfRun, type Line, segmentsInForce } from '../../policy/fold/line.ts'
import type { ExposureRun, Modification, PerilRun, PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Policyholder } from '../../policyholders/policyholder.ts'
import type { Configuration, FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import type { ScopeKind } from '../../product/constraint-graph.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { Element } from '../../reference/constraints/evaluation.ts'

/** An element of a policy, with the modification that its values are of. */
export type PolicyElement = Element & { readonly madeBy: Uuid }

export type Surroundings = {
  readonly product: ProductDefinition
  readonly policyholder: Policyholder
  readonly configuration: Configuration
}

export const surroundingsOf = ({ product, policyholder, configuration }: Loaded): Surroundings => ({
  product,
  policyholder,
  configuration: configuration.configuration,
})

/** The line as it was before the modification; of new business, no line. */
export const lineBefore = (line: Line, { locator }: Modification): Line =>
  line.filter(({ modification }) => modification.locator !== locator)

/** An account's own element, of which those of its policies stand. */
export const policyholderElement = (
  { locator, entity }: Policyholder,
  fields: readonly FieldDefinition[],
): Element => ({ kind: 'policyholder', locator, fields, values: entity.values })

/**
 * The elements in force at a time by the line: the policy, its exposures, their perils, each followed by its groups.
 * `name`: the policy's own static locator.
 */
export function elementsAt(
  aggregate: PolicyAggregate,
  line: Line,
  at: Instant,
  { product, policyholder, configuration }: Surroundings,
  name = String(aggregate.policy.locator),
): PolicyElement[] {
  const segment = segmentsInForce(line).find(one => one.start <= at && at < one.end)
  if (!segment) return []
  const counted = new Set(line.map(({ modification }) => modification.locator))
  const holds = (run: ExposureRun | PerilRun): boolean =>
    counted.has(run.madeBy) && run.start <= at && at < endOfRun(run, counted)
  const elements: PolicyElement[] = []
  const add = (
    kind: ScopeKind,
    locator: string,
    fields: readonly FieldDefinition[],
    { values, groups }: FieldData,
    madeBy: Uuid,
    outer: Element,
  ): Element => {
    const element = { kind, locator, fields, values, outer, madeBy }
    elements.push(element)
    for (const group of groups) {
      const inside = fields.find(one => one.name === group.fieldName)?.fields ?? []
      elements.push({
        kind: 'group',
        locator: group.locator,
        fields: inside,
        values: group.values,
        outer: element,
        madeBy,
      })
    }
    return element
  }
  const holder = policyholderElement(policyholder, configuration.policyholderFields)
  const policy = add('policy', name, product.fields, segment.data, segment.madeBy, holder)
  const perilRuns = Map.groupBy(
    [...aggregate.perilRuns.values()].filter(holds),
    run => aggregate.perils.get(run.perilLocator)?.exposureLocator,
  )
  for (const run of aggregate.exposureRuns.values()) {
    const exposure = aggregate.exposures.get(run.exposureLocator)
    const definition = exposure && product.exposures.find(one => one.name === exposure.name)
    if (!definition || !holds(run)) continue
    const around = add('exposure', exposure.locator, definition.fields, run.data, run.madeBy, policy)
    for (const perilRun of perilRuns.get(exposure.locator) ?? []) {
      const { name } = aggregate.perils.get(perilRun.perilLocator)!
      const fields = definition.perils.find(one => one.name === name)?.fields ?? []
      add('peril', perilRun.perilLocator, fields, perilRun.data, perilRun.madeBy, around)
    }
  }
  return elements
}
