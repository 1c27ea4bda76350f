// Custom events that config.json declares, with their schedules (resources brief 8.3).

import { z } from 'zod'
import { type CustomEventType, isCustomEventType } from '../../platform/events/types.ts'
import {
  ALIGNMENTS,
  ANCHORS,
  CADENCE_UNITS,
  type CustomEventDefinition,
  SUPPRESSING_STATUSES,
} from '../custom-events.ts'
import type { JsonPath } from './json/read.ts'
import { choice, flag, list, name, present, textList, wholeNumber } from './json/scalars.ts'
import type { Place, Report } from './report.ts'

const schedule = z.strictObject({
  anchor: choice(ANCHORS),
  alignment: choice(ALIGNMENTS).optional(),
  offset: z.strictObject({ amount: wholeNumber, unit: choice(CADENCE_UNITS).default('day') }).optional(),
  cadence: z
    .strictObject({
      intervalDuration: wholeNumber.default(1),
      durationBasis: choice(CADENCE_UNITS),
      limit: wholeNumber.optional(),
    })
    .optional(),
  suppressOnStatuses: list(choice(SUPPRESSING_STATUSES)).default([]),
})

/** Property of config.json: events that plugins or the calendar tell (resources brief 8.3). */
export const customEventDeclarations = list(
  z.strictObject({
    type: name,
    schedule: schedule.optional(),
    isPersisted: flag.default(true),
    products: textList.optional(),
  }),
).default([])

type CustomEventDeclarations = z.infer<typeof customEventDeclarations>

/** Each adds a row and a timer to every policy. */
const MOST_SCHEDULES = 50

/** Farther than any policy is long, and within the calendar. */
const LARGEST_AMOUNT = 10_000

type Declared = NonNullable<CustomEventDeclarations[number]>

export function compileCustomEvents(
  declared: CustomEventDeclarations,
  hasProduct: (name: string) => boolean,
  place: (path: JsonPath) => Place,
  report: Report,
): CustomEventDefinition[] {
  const definitions = new Map<string, CustomEventDefinition>()
  for (const [index, one] of present(declared)) {
    const bad = (path: JsonPath, message: string): void =>
      report.error(place(['customEvents', index, ...path]), 'badCustomEvent', message)
    if (!isCustomEventType(one.type))
      bad(['type'], `'${one.type}' is no type of a custom event. Write it like 'custom.policy.anniversary'.`)
    if (definitions.has(one.type))
      bad(['type'], `The type '${one.type}' is declared twice. Remove or rename one of the two.`)
    if (!one.isPersisted)
      report.warning(
        place(['customEvents', index, 'isPersisted']),
        'customEventKept',
        `'${one.type}' is not to be persisted. Every event is kept in the stream, and this one too.`,
      )
    for (const product of one.products ?? [])
      if (!hasProduct(product))
        bad(['products'], `There is no product '${product}'. Name products by their folders.`)
    checkSchedule(one, bad)
    definitions.set(one.type, definitionOf(one))
  }
  const scheduled = [...definitions.values()].filter(one => one.schedule !== undefined)
  if (scheduled.length > MOST_SCHEDULES)
    report.error(
      place(['customEvents']),
      'badCustomEvent',
      `${scheduled.length} events have a schedule; there may be ${MOST_SCHEDULES}.`,
    )
  return [...definitions.values()]
}

function checkSchedule({ type, schedule }: Declared, bad: (path: JsonPath, message: string) => void): void {
  const { anchor, offset, cadence } = schedule ?? {}
  if (offset && Math.abs(offset.amount) > LARGEST_AMOUNT)
    bad(['schedule', 'offset', 'amount'], `An offset is ${LARGEST_AMOUNT} at most, before or after.`)
  if (!cadence) return
  const { intervalDuration, limit } = cadence
  if (intervalDuration < 1 || intervalDuration > LARGEST_AMOUNT)
    bad(['schedule', 'cadence', 'intervalDuration'], `An interval is from 1 to ${LARGEST_AMOUNT}.`)
  if (limit !== undefined && (limit < 1 || limit > LARGEST_AMOUNT))
    bad(['schedule', 'cadence', 'limit'], `A limit is from 1 to ${LARGEST_AMOUNT}.`)
  if (anchor === 'policyEnd' && limit === undefined)
    bad(
      ['schedule', 'cadence'],
      `'${type}' is counted from the end of the policy, and would come for ever. Give its cadence a limit.`,
    )
}

const definitionOf = ({ type, schedule, products }: Declared): CustomEventDefinition => {
  const { anchor, alignment, offset, cadence, suppressOnStatuses = [] } = schedule ?? {}
  return {
    type: type as CustomEventType,
    ...(products && { products }),
    ...(anchor && {
      schedule: {
        anchor,
        ...(alignment && { alignment }),
        ...(offset && { offset }),
        ...(cadence && {
          cadence: {
            intervalDuration: cadence.intervalDuration,
            durationBasis: cadence.durationBasis,
            ...(cadence.limit !== undefined && { limit: cadence.limit }),
          },
        }),
        suppressOnStatuses: present(suppressOnStatuses).map(([, status]) => status),
      },
    }),
  }
}
