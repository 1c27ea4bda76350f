// A product of round figures: one exposure, each of whose perils costs the stated amount per year. It has no taxes, fees or
// guidelines, so the premium is the number that the test states.
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { type Answer, callApi, callOk } from './api.ts'
import { type ArchiveFiles, type DeployedTenant, deployExample } from './examples.ts'

export type Plain = DeployedTenant & {
  call<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>>
  /** Returns the body of a response, which must have status 200. */
  ok<Body>(method: string, path: string, body?: unknown): Promise<Body>
  /** Issues a policy with one peril that costs `yearly`, unless `exposures` says otherwise. */
  issue(span: { start: number; end: number }, yearly: string, exposures?: object[]): Promise<PolicyResponse>
}

type Options = {
  timezone: string
  perils?: readonly string[]
  proration?: string
  paymentSchedules?: object[]
  invoicing?: object
}

/** An exposure of a request. */
export const thing = (yearly: string, perils: readonly string[] = ['cover']) => ({
  exposureName: 'thing',
  fieldValues: { yearly },
  perils: perils.map(name => ({ name })),
})

export function plainFiles({
  timezone,
  perils = ['cover'],
  proration = 'actual',
  paymentSchedules = [{ type: 'total', name: 'upfront', displayName: 'At once' }],
  invoicing,
}: Options): ArchiveFiles {
  const policy = 'products/plain/policy'
  const exposure = `${policy}/exposures/thing`
  const files: Record<string, unknown> = {
    'config.json': { timezone, currency: 'EUR' },
    'policyholder/policyholder.dictionary.json': [{ name: 'last_name', type: 'string', searchable: true }],
    'security/test_users.json': [{ username: 'alice', name: 'Alice', password: 'password' }],
    [`${policy}/policy.json`]: {
      fields: [{ name: 'note', title: 'Note', type: 'string', optional: true }],
      paymentSchedules,
      invoicing,
      cancellations: { proration },
    },
    [`${policy}/endorsements.json`]: {
      endorsements: ['never', 'always', 'all'].map(reprice => ({
        name: reprice,
        displayName: reprice,
        reprice,
        documents: [],
      })),
    },
    [`${policy}/renewals.json`]: { documents: [] },
    [`${policy}/cancellations.json`]: {
      cancellationTypes: [
        {
          name: 'wish',
          title: 'At the customer’s wish',
          documents: [],
          reinstatement: { defaultDeadlineDays: 30, documents: [] },
        },
        {
          name: 'fifty_kept',
          title: 'Less 50',
          documents: [],
          holdback: { amount: 50 },
          reinstatement: { defaultDeadlineDays: 30, documents: [] },
        },
        { name: 'tenth_kept', title: 'Less a tenth', documents: [], holdback: { percent: 10 } },
      ],
    },
    [`${exposure}/exposure.json`]: {
      name: 'thing',
      displayName: 'Thing',
      fields: [{ name: 'yearly', title: 'Yearly', type: 'number', decimalPlaces: 2 }],
    },
  }
  for (const name of perils) {
    files[`${exposure}/perils/${name}.json`] = { name, displayName: name, fields: [] }
    files[`${exposure}/perils/${name}.premium.liquid`] =
      '{{ data.exposure_characteristics.field_values.yearly | set_year_premium }}'
  }
  return Object.fromEntries(
    Object.entries(files).map(([path, file]) => [
      path,
      typeof file === 'string' ? file : JSON.stringify(file),
    ]),
  )
}

/** `more` adds or replaces files of those for the options. */
export async function plainTenant(suffix: string, options: Options, more: ArchiveFiles = {}): Promise<Plain> {
  const tenant = await deployExample({ ...plainFiles(options), ...more }, suffix)
  const { token } = tenant
  const ok = <Body>(method: string, path: string, body?: unknown): Promise<Body> =>
    callOk<Body>(method, path, { token, body })
  const { locator: policyholderLocator } = await ok<{ locator: string }>('POST', '/policyholder/create', {
    completed: true,
    values: { last_name: ['Even'] },
  })
  return {
    ...tenant,
    ok,
    call: (method, path, body, headers) => callApi(method, path, { token, body, headers }),
    issue: async ({ start, end }, yearly, exposures = [thing(yearly)]) => {
      const { locator } = await ok<PolicyResponse>('POST', '/policy', {
        productName: 'plain',
        policyholderLocator,
        policyStartTimestamp: start,
        policyEndTimestamp: end,
        exposures,
      })
      return ok('POST', `/policy/${locator}/issue`)
    },
  }
}
