import { Refusal } from '../../kernel/errors.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import type { Configuration } from '../../product/configuration.ts'
import { fieldErrors } from '../../product/fields/errors.ts'
import { validateFields } from '../../product/fields/validate.ts'
import { type FieldValues, normaliseFieldValues, readFieldValues } from '../../product/fields/values.ts'

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
