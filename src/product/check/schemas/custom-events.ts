import { z } from 'zod'
import { ALIGNMENTS, ANCHORS, CADENCE_UNITS, SUPPRESSING_STATUSES } from '../../custom-events.ts'
import { choice, flag, list, name, textList, wholeNumber } from './scalars.ts'

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

export type CustomEventDeclarations = z.infer<typeof customEventDeclarations>
