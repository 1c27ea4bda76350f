// What clients do with a policy: at each step, something that its state allows, like a clerk who reads the policy first.
import type { Random } from '../../tools/book/random.ts'
import { answerOf, type Client, type Wish } from './client.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const SCHEDULES = ['upfront', 'monthly', 'quarterly'] as const

/** The properties of a policy response that a clerk reads. */
type Shown = {
  locator: string
  issuedTimestamp?: string
  paymentScheduleName: string
  originalContractStartTimestamp: string
  effectiveContractEndTimestamp: string
  modifications: { name: string; premiumChange?: number }[]
  invoices: { locator: string; settlementStatus: string; outstandingAmount?: number }[]
  documents: { locator: string; displayName: string; url?: string }[]
  cancellation?: unknown
}

/** Requests of the example: the values of a policyholder, and a policy. */
export type Samples = { readonly policyholder: object; readonly policy: object }

export type Life = {
  readonly client: Client
  readonly random: Random
  /** Whether no other clerk changes the policy meanwhile. */
  readonly isAlone: boolean
  readonly samples: Samples
  readonly policyholder: string
  policy: string
  /** Locators of records that later steps may continue with. */
  readonly endorsements: string[]
  readonly renewals: string[]
  readonly cancellations: string[]
  readonly reinstatements: string[]
  readonly payments: string[]
}

type Move = (life: Life, policy: Shown) => Promise<unknown>

const last = (list: readonly string[]): string | undefined => list.at(-1)

/** A time within the present or former term of the policy. */
const within = ({ random }: Life, policy: Shown): number => {
  const start = Number(policy.originalContractStartTimestamp)
  const end = Number(policy.effectiveContractEndTimestamp)
  return start + Math.floor(((end - start) * random.between(5, 95)) / 100 / DAY_MS) * DAY_MS
}

async function made(list: string[], wish: Promise<Wish>): Promise<void> {
  const locator = answerOf<{ locator?: string }>(await wish)?.locator
  if (locator !== undefined) list.push(locator)
}

const post = (life: Life, kind: string, path: string, body?: unknown): Promise<Wish> =>
  life.client.wish(kind, life.policy, { method: 'POST', path, ...(body !== undefined && { body }) })

const patch = (life: Life, kind: string, path: string, body: unknown = {}): Promise<Wish> =>
  life.client.wish(kind, life.policy, { method: 'PATCH', path, body })

const endorse: Move = (life, policy) =>
  made(
    life.endorsements,
    post(life, 'endorse', `/policies/${life.policy}/endorsements`, {
      endorsementName: 'change_of_contact',
      startTimestamp: within(life, policy),
      fieldValues: { contact_phone: `+49 30 ${life.random.between(1_000_000, 9_999_999)}` },
      ...(life.random.chance(0.5) && { state: 'issued' }),
    }),
  )

const insure: Move = (life, policy) =>
  made(
    life.endorsements,
    post(life, 'endorse', `/policies/${life.policy}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: within(life, policy),
      addExposures: (life.samples.policy as { exposures: object[] }).exposures,
      ...(life.random.chance(0.7) && { state: 'issued' }),
    }),
  )

const goOn =
  (list: 'endorsements' | 'renewals', path: string): Move =>
  async life => {
    const one = last(life[list])
    if (one === undefined) return
    const action = life.random.pick(['quote', 'accept', 'issue', 'issue', 'invalidate', 'discard'])
    await patch(life, `${action} ${path.slice(0, -1)}`, `/${path}/${one}`, { action })
  }

const renew: Move = (life, policy) =>
  made(
    life.renewals,
    post(life, 'renew', `/policies/${life.policy}/renewals`, {
      renewalEndTimestamp: Number(policy.effectiveContractEndTimestamp) + 365 * DAY_MS,
      ...(life.random.chance(0.5) && { state: 'issued' }),
    }),
  )

const cancel: Move = async (life, policy) => {
  await made(
    life.cancellations,
    post(life, 'cancel', `/policies/${life.policy}/cancellations`, {
      effectiveTimestamp: within(life, policy),
      name: 'customer_request',
      cancellationCategory: 'other',
    }),
  )
  const one = last(life.cancellations)
  if (one !== undefined && life.random.chance(0.8))
    await patch(life, 'issue cancellation', `/cancellations/${one}/issue`)
}

const reinstate: Move = async life => {
  const one = last(life.cancellations)
  if (one === undefined) return
  await made(life.reinstatements, patch(life, 'reinstate', `/cancellations/${one}/reinstate`))
  const begun = last(life.reinstatements)
  if (begun === undefined) return
  await patch(life, 'accept reinstatement', `/reinstatements/${begun}/accept`)
  await patch(life, 'issue reinstatement', `/reinstatements/${begun}/issue`)
}

const pay: Move = async (life, policy) => {
  const open = policy.invoices.filter(one => one.settlementStatus === 'outstanding')
  if (open.length === 0) return
  const { locator, outstandingAmount = 0 } = life.random.pick(open)
  const terms = life.random.pick([
    {},
    {},
    // A partial payment, an overpayment, and a payment from the policyholder's credit.
    { amount: (outstandingAmount / 2).toFixed(2) },
    { amount: (outstandingAmount + 50).toFixed(2) },
    { source: 'credit' },
  ])
  const body = { fieldValues: { method: 'card' }, ...terms }
  await made(life.payments, post(life, 'pay', `/invoice/${locator}/pay`, body))
}

const reverse: Move = async life => {
  const one = last(life.payments)
  if (one !== undefined) await post(life, 'reverse', `/payments/${one}/reverse`)
}

const addFee: Move = (life, policy) =>
  patch(life, 'add fee', `/policy/${life.policy}/fees`, {
    newFees: [
      {
        feeName: 'policy_fee',
        amount: life.random.between(1, 40),
        description: `By hand ${crypto.randomUUID()}`,
        startTimestamp: Number(policy.originalContractStartTimestamp),
        endTimestamp: Number(policy.effectiveContractEndTimestamp),
      },
    ],
  })

/** Changes to another schedule. Changing to the current one does nothing, which would also happen after another clerk's change. */
const reschedule: Move = async (life, policy) => {
  if (!life.isAlone) return
  await post(life, 'change schedule', `/policy/${life.policy}/paymentSchedule`, {
    newPaymentScheduleName: life.random.pick(SCHEDULES.filter(name => name !== policy.paymentScheduleName)),
  })
}

const invoiceNext: Move = life => post(life, 'invoice next', `/policy/${life.policy}/issueNextInvoice`)

const upload: Move = async life => {
  const form = new FormData()
  const name = crypto.randomUUID()
  form.set('document', new Blob([`%PDF-1.4\n%${name}\n%%EOF\n`]), 'terms.pdf')
  const query = `displayName=${name}&documentType=terms`
  await post(life, 'add document', `/policy/${life.policy}/addDocument?${query}`, form)
}

/** The names that `upload` gives its documents. */
const UPLOADED = /^[0-9a-f-]{36}$/

const removeUpload: Move = async (life, policy) => {
  const uploaded = policy.documents.filter(one => UPLOADED.test(one.displayName))
  if (uploaded.length === 0) return
  const { locator, displayName } = life.random.pick(uploaded)
  await life.client.wish('remove document', life.policy, {
    method: 'POST',
    path: `/policy/${life.policy}/removeDocument`,
    body: { documentLocator: locator },
    undoes: displayName,
  })
}

/** Reads a file, as someone who reads a policy's documents does. */
const readFile: Move = async (life, policy) => {
  const addresses = policy.documents.flatMap(one => one.url ?? [])
  if (addresses.length > 0) await life.client.read(new URL(life.random.pick(addresses)).pathname)
}

const addMedium: Move = async life => {
  const form = new FormData()
  form.set('file', new Blob([`a photograph ${crypto.randomUUID()}`]), 'front.jpg')
  await post(life, 'add medium', '/media', form)
}

/** Moves of an issued policy. Those listed more often are more likely. */
const MOVES: readonly Move[] = [
  ...[endorse, endorse, insure, insure, goOn('endorsements', 'endorsements')],
  ...[goOn('endorsements', 'endorsements'), renew, goOn('renewals', 'renewals')],
  ...[cancel, reinstate, reinstate, pay, pay, pay, reverse, addFee, reschedule, invoiceNext],
  ...[upload, upload, readFile, readFile, addMedium],
]

/** Moves of a policy that is not issued, between the steps to its issue. */
const BEFORE_ISSUE: readonly Move[] = [upload, upload, removeUpload, removeUpload, readFile]

async function newPolicy(life: Life): Promise<void> {
  const body = {
    ...life.samples.policy,
    policyStartTimestamp: undefined,
    policyEndTimestamp: undefined,
    policyholderLocator: life.policyholder,
    paymentScheduleName: life.random.pick(SCHEDULES),
    finalize: life.random.chance(0.7),
  }
  const created = await life.client.wish('create policy', undefined, {
    method: 'POST',
    path: '/policy',
    body,
  })
  const { locator } = answerOf<Shown>(created) ?? {}
  if (locator !== undefined) life.policy = locator
}

async function step(life: Life): Promise<void> {
  const policy = await life.client.read<Shown>(`/policy/${life.policy}`)
  if (!policy) return
  if (policy.issuedTimestamp !== undefined) return void (await life.random.pick(MOVES)(life, policy))
  if (life.random.chance(0.3)) return void (await life.random.pick(BEFORE_ISSUE)(life, policy))
  const isFinalized = policy.modifications[0]?.premiumChange !== undefined
  if (isFinalized) await post(life, 'issue', `/policy/${life.policy}/issue`)
  else if (life.random.chance(0.3))
    await post(life, 'update policy', `/policy/${life.policy}/update`, {
      fieldValues: { contact_phone: '+49 30 7654321' },
      finalize: false,
    })
  else await post(life, 'finalize', `/policy/${life.policy}/finalize`)
}

/**
 * Takes one policy from its request through the given number of steps of each clerk. Several clerks work at the same time and do
 * not know of each other: the policy may have changed since a clerk read it.
 */
export async function live(
  client: Client,
  randoms: readonly [Random, ...Random[]],
  samples: Samples,
  policyholder: string,
  steps: number,
): Promise<void> {
  const life: Life = {
    client,
    random: randoms[0],
    isAlone: true,
    samples,
    policyholder,
    policy: '',
    endorsements: [],
    renewals: [],
    cancellations: [],
    reinstatements: [],
    payments: [],
  }
  for (let tries = 0; tries < 3 && life.policy === ''; tries += 1) await newPolicy(life)
  if (life.policy === '') return
  const clerk = async (random: Random): Promise<void> => {
    for (let at = 0; at < steps; at += 1) await step({ ...life, random, isAlone: randoms.length === 1 })
  }
  await Promise.all(randoms.map(clerk))
}

/** Creates a policyholder; undefined if that failed. */
export async function newPolicyholder(client: Client, samples: Samples): Promise<string | undefined> {
  for (let tries = 0; tries < 3; tries += 1) {
    const wish = await client.wish('create policyholder', undefined, {
      method: 'POST',
      path: '/policyholder/create',
      body: { completed: true, ...samples.policyholder },
    })
    const { locator } = answerOf<{ locator: string }>(wish) ?? {}
    if (locator !== undefined) return locator
  }
  return undefined
}
