// A product whose amounts can be worked out in the head: a boat whose hull states the premium of a year, with one peril, an
// optional tax of 10%, no standard fees, every payment schedule, and invoices ten days before they are due.
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'

export const ZONE = 'Europe/Berlin' as TimeZone

/** The start of 2030, which is not a leap year. Tests move their tenants' clocks into it. */
export const NEW_YEAR = Date.UTC(2029, 11, 31, 23) as Instant

/** Midnight of the first of a month, counted from 0, or of a later day of that month. */
export const month = (count: number, day = 1): Instant =>
  add(add(NEW_YEAR, count, 'month', ZONE), day - 1, 'day', ZONE)

export const SCHEDULES = {
  annually: 'annually',
  semiannually: 'semiannually',
  quarterly: 'quarterly',
  monthly: 'monthly',
  fortnightly: 'every_two_weeks',
  weekly: 'every_week',
  upfront: 'total',
}

export function boatFiles(currency: string, taxed: boolean): Record<string, string> {
  const json = (content: unknown): string => JSON.stringify(content)
  const policy = 'products/boat/policy'
  return {
    'config.json': json({ timezone: ZONE, currency }),
    'security/test_users.json': json([
      { username: 'alice.agent', name: 'Alice', password: 'password', roles: ['agent'] },
    ]),
    'policyholder/policyholder.dictionary.json': json([
      { name: 'last_name', type: 'string', searchable: true },
    ]),
    [`${policy}/policy.json`]: json({
      fields: [],
      paymentSchedules: Object.entries(SCHEDULES).map(([name, type]) => ({ type, name, displayName: name })),
      defaultPaymentTerms: { amount: 10, unit: 'day' },
    }),
    [`${policy}/endorsements.json`]: json({
      endorsements: [{ name: 'change', displayName: 'Change', reprice: 'always', documents: [] }],
    }),
    [`${policy}/cancellations.json`]: json({
      cancellationTypes: [{ name: 'sold', title: 'Sold', documents: [] }],
    }),
    [`${policy}/fees.json`]: json({
      fees: [
        { name: 'reminder', displayName: 'Reminder', proration: 'flat' },
        { name: 'mooring', displayName: 'Mooring' },
      ],
    }),
    [`${policy}/exposures/hull/exposure.json`]: json({
      name: 'hull',
      displayName: 'Hull',
      fields: [{ name: 'yearly', title: 'A year costs', type: 'number', decimalPlaces: 3 }],
    }),
    [`${policy}/exposures/hull/perils/sinking.json`]: json({ name: 'sinking', fields: [] }),
    [`${policy}/exposures/hull/perils/sinking.premium.liquid`]:
      '{{ data.exposure_characteristics.field_values.yearly | set_year_premium }}',
    ...(taxed && {
      [`${policy}/taxes/taxes.json`]: json({ taxes: [{ name: 'levy', displayName: 'Levy' }] }),
      [`${policy}/taxes/levy.premium.liquid`]:
        '{{ data.peril_characteristics.premium | times: 0.1 | set_peril_tax }}',
    }),
  }
}
