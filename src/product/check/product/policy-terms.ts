// What policy.json says about paying, lapsing and reminding.
import type { PaymentScheduleType, ProductDefinition } from '../../configuration.ts'
import type { Decoded } from '../json/decode.ts'
import { present } from '../json/scalars.ts'
import { checkUniqueNames, displayNameOf } from '../names.ts'
import type { Report } from '../report.ts'
import type { PolicyFile } from './files.ts'

type Terms = Pick<
  ProductDefinition,
  | 'paymentSchedules'
  | 'defaultPaymentTerms'
  | 'lapse'
  | 'invoicing'
  | 'legacyCancellationProration'
  | 'endReminders'
>

/** 30/360 and calendar months were one behaviour on the reference platform (brief 1.7). */
const prorations = { '30E360': 'monthly', actual: 'monthly', actualMilliseconds: 'linear' } as const

export function compileTerms({ value, place }: Decoded<PolicyFile>, report: Report): Terms {
  return {
    paymentSchedules: paymentSchedules({ value, place }, report),
    defaultPaymentTerms: value.defaultPaymentTerms,
    lapse: value.lapse,
    invoicing: value.invoicing,
    legacyCancellationProration: prorations[value.cancellations.proration],
    endReminders: endReminders({ value, place }, report),
  }
}

function paymentSchedules(
  { value, place }: Decoded<PolicyFile>,
  report: Report,
): ProductDefinition['paymentSchedules'] {
  const list = present(value.paymentSchedules).map(([index, { type, name, displayName }]) => ({
    index,
    schedule: {
      type: type satisfies PaymentScheduleType,
      name: name ?? type,
      displayName: displayName?.trim() || displayNameOf(name ?? type),
    },
  }))
  checkUniqueNames(
    list.map(({ index, schedule }) => ({ name: schedule.name, path: ['paymentSchedules', index, 'name'] })),
    'payment schedule',
    place,
    report,
  )
  if (value.paymentSchedules?.length === 0)
    report.warning(
      place(['paymentSchedules']),
      'noPaymentSchedules',
      "'paymentSchedules' lists none, so the product has one, 'upfront', of type total. List those that it is to have, or leave the property out.",
    )
  if (list.length === 0) return [{ type: 'total', name: 'upfront', displayName: 'Upfront' }]
  return list.map(({ schedule }) => schedule)
}

const DAYS = { d: 1, w: 7 } as const

function endReminders(
  { value, place }: Decoded<PolicyFile>,
  report: Report,
): ProductDefinition['endReminders'] {
  const reminders = present(value.endReminders).map(([, reminder]) => reminder)
  for (const [index, { name, enabled, offset }] of present(value.reminders)) {
    const match = /^-\s*(\d{1,4})\s*([dw])$/i.exec(offset.trim())
    if (match === null)
      report.error(
        place(['reminders', index, 'offset']),
        'badReminder',
        `The reminder '${name}' has the offset '${offset}'. Write the days or weeks before the end like '-7d' or '-2w'.`,
      )
    else if (enabled)
      reminders.push({
        name,
        daysBefore: Number(match[1]) * DAYS[match[2]!.toLowerCase() as keyof typeof DAYS],
      })
  }
  return reminders
}
