import type { Configuration } from '../../configuration/configuration.ts'
import { Refusal } from '../../platform/errors.ts'
import { fieldErrors } from '../../platform/fields/errors.ts'
import { normaliseFieldValues } from '../../platform/fields/normalise.ts'
import { validateFields } from '../../platform/fields/validate.ts'
import { type FieldValues, readFieldValues } from '../../platform/fields/values.ts'
import type { Instant, TimeZone } from '../../platform/time.ts'

/**
 * A payment's values as they are stored. Held against payment/payment.json as a whole, its required fields included;
 * refuses (400) with every problem. Group and lookup fields a deploy refuses (brief 4.4, 6.7).
 */
export function paymentFieldValues(
  { paymentFields }: Pick<Configuration, 'paymentFields'>,
  wire: unknown,
  timeZone: TimeZone,
  now: Instant,
): FieldValues {
  const { values, problems } = readFieldValues(wire)
  const found = validateFields(paymentFields, values, [], {
    timeZone,
    now,
    requireMissing: true,
    table: () => undefined,
    reported: fieldErrors(problems),
  })
  if (found.hasErrors)
    throw new Refusal('paymentValidation', found.errors.map(error => error.message ?? '').join(' '), {
      paymentFieldErrors: found,
    })
  return normaliseFieldValues(paymentFields, values, timeZone)
}
