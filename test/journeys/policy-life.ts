// The life of a policy as API calls: one transaction of each kind after the other.
import { workedPolicies } from '../../scripts/example.ts'

/** Makes a call, which must succeed. Returns the parsed response. */
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, of which a few properties are read.
export type Caller = (method: string, path: string, body?: object) => Promise<any>

const DAY_MS = 24 * 60 * 60 * 1000

export type Life = {
  holder: string
  policy: string
  start: number
  end: number
  record: string
  invoice: string
}

type Step = { readonly kind: string; readonly act: (call: Caller, life: Life) => Promise<void> }

const worked = workedPolicies()[0]!.request

const createRecord =
  (key: 'record' | 'invoice', method: string, path: (life: Life) => string, body: (life: Life) => object) =>
  async (call: Caller, life: Life): Promise<void> => {
    life[key] = (await call(method, path(life), body(life))).locator
  }

const send =
  (method: string, path: (life: Life) => string, body?: (life: Life) => object) =>
  async (call: Caller, life: Life): Promise<void> => {
    await call(method, path(life), body?.(life))
  }

const endorsements = ({ policy }: Life): string => `/policies/${policy}/endorsements`
const endorsement = ({ record }: Life): string => `/endorsements/${record}`
const change = ({ start }: Life): object => ({
  endorsementName: 'change_of_contact',
  startTimestamp: start + 30 * DAY_MS,
  fieldValues: { contact_email: 'greta@example.com' },
})

const STEPS: readonly Step[] = [
  {
    kind: 'create policyholder',
    act: async (call, life) => {
      const answer = await call('POST', '/policyholder/create', { completed: true, ...worked.policyholder })
      life.holder = answer.locator
    },
  },
  {
    kind: 'update policyholder',
    act: async (call, { holder }) => {
      await call('POST', '/policyholder/update', {
        locator: holder,
        version: 1,
        completed: true,
        values: { ...(worked.policyholder.values as object), city: 'Potsdam' },
      })
    },
  },
  {
    kind: 'create policy',
    act: async (call, life) => {
      const request = { ...worked.policy, policyholderLocator: life.holder, finalize: false }
      const policy = await call('POST', '/policy', request)
      Object.assign(life, {
        policy: policy.locator,
        start: Number(policy.originalContractStartTimestamp),
        end: Number(policy.originalContractEndTimestamp),
      })
    },
  },
  {
    kind: 'update policy',
    act: send(
      'POST',
      ({ policy }) => `/policy/${policy}/update`,
      () => ({
        fieldValues: { contact_phone: '+49 30 7654321' },
        finalize: false,
      }),
    ),
  },
  { kind: 'finalize policy', act: send('POST', ({ policy }) => `/policy/${policy}/finalize`) },
  { kind: 'issue policy', act: send('POST', ({ policy }) => `/policy/${policy}/issue`) },
  { kind: 'apply for endorsement', act: createRecord('record', 'POST', endorsements, change) },
  {
    kind: 'update endorsement',
    act: send('PATCH', endorsement, () => ({
      endorsementUpdate: { fieldValues: { contact_phone: '+49 30 1111111' } },
    })),
  },
  { kind: 'quote endorsement', act: send('PATCH', endorsement, () => ({ action: 'quote' })) },
  { kind: 'accept endorsement', act: send('PATCH', endorsement, () => ({ action: 'accept' })) },
  { kind: 'invalidate endorsement', act: send('PATCH', endorsement, () => ({ action: 'invalidate' })) },
  {
    kind: 'issue endorsement',
    act: createRecord('record', 'POST', endorsements, life => ({ ...change(life), state: 'issued' })),
  },
  { kind: 'apply for endorsement', act: createRecord('record', 'POST', endorsements, change) },
  { kind: 'discard endorsement', act: send('PATCH', endorsement, () => ({ action: 'discard' })) },
  {
    kind: 'pay invoice',
    act: async (call, life) => {
      const { invoices } = await call('GET', `/policy/${life.policy}`)
      const fieldValues = { method: 'card' }
      const due = invoices.find(({ totalDue }: { totalDue: string }) => Number(totalDue) > 0)
      life.invoice = (await call('POST', `/invoice/${due.locator}/pay`, { fieldValues })).locator
    },
  },
  { kind: 'reverse payment', act: send('POST', ({ invoice }) => `/payments/${invoice}/reverse`) },
  {
    kind: 'add fee',
    act: send(
      'PATCH',
      ({ policy }) => `/policy/${policy}/fees`,
      ({ start, end }) => ({
        newFees: [
          {
            feeName: 'policy_fee',
            amount: 10,
            description: 'By hand',
            startTimestamp: start,
            endTimestamp: end,
          },
        ],
      }),
    ),
  },
  {
    kind: 'apply for renewal',
    act: createRecord(
      'record',
      'POST',
      ({ policy }) => `/policies/${policy}/renewals`,
      ({ end }) => ({
        renewalEndTimestamp: end + 365 * DAY_MS,
      }),
    ),
  },
  {
    kind: 'discard renewal',
    act: send(
      'PATCH',
      ({ record }) => `/renewals/${record}`,
      () => ({ action: 'discard' }),
    ),
  },
  {
    kind: 'draft cancellation',
    act: createRecord(
      'record',
      'POST',
      ({ policy }) => `/policies/${policy}/cancellations`,
      ({ start }) => ({
        effectiveTimestamp: start + 60 * DAY_MS,
        name: 'customer_request',
        cancellationCategory: 'other',
      }),
    ),
  },
  {
    kind: 'update cancellation',
    act: send(
      'PATCH',
      ({ record }) => `/cancellations/${record}`,
      () => ({
        cancellationCategory: 'vehicle_sold',
      }),
    ),
  },
  { kind: 'issue cancellation', act: send('PATCH', ({ record }) => `/cancellations/${record}/issue`) },
  {
    kind: 'begin reinstatement',
    act: createRecord(
      'record',
      'PATCH',
      ({ record }) => `/cancellations/${record}/reinstate`,
      () => ({}),
    ),
  },
  { kind: 'accept reinstatement', act: send('PATCH', ({ record }) => `/reinstatements/${record}/accept`) },
  { kind: 'issue reinstatement', act: send('PATCH', ({ record }) => `/reinstatements/${record}/issue`) },
]

export const TRANSACTIONS_OF_A_LIFE = STEPS.length

/** The kinds of transactions in a life. */
export const KINDS: ReadonlySet<string> = new Set(STEPS.map(({ kind }) => kind))

/** Carries out all transactions, and calls `acknowledge` for each when it is acknowledged. Returns the created records. */
export async function liveOnce(call: Caller, acknowledge: (kind: string) => void): Promise<Life> {
  const life: Life = { holder: '', policy: '', start: 0, end: 0, record: '', invoice: '' }
  for (const { kind, act } of STEPS) {
    await act(call, life)
    acknowledge(kind)
  }
  return life
}
