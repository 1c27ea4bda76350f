// Requests that the service accepts, and how they grow. Most inputs of the OpenAPI document (inputs.ts) are rejected before the
// inner work begins; every request of this table must succeed.

/** The context of a case: the motor example, with larger limits, constraints and a lambda. */
export type NewPolicyContext = {
  readonly tenantLocator: string
  /** A policy that can be created, with a policyholder, one vehicle of four perils, and one driver. */
  readonly policy: Readonly<Record<string, unknown>>
  readonly vehicle: object
  readonly driver: object
  readonly migratedAccount: (id: string, changes?: object) => object
  readonly migratedPolicy: (id: string, invoiceId: string, changes?: object) => MigratedPolicy
  /** Returns a name that no other resource has. */
  readonly newName: () => string
  readonly archive: (files: Readonly<Record<string, string>>) => unknown
  readonly file: (text: string, fileName: string) => unknown
  /** Calls without measuring. */
  readonly call: Caller
  /** Makes a call as a step whose cost must grow in proportion. The costs of steps with the same name are added. */
  readonly step: (name: string, ...call: Parameters<Caller>) => ReturnType<Caller>
  /** Waits for background work of the service, and counts it as a step. */
  readonly migrated: (name: string, accounts: readonly object[]) => Promise<void>
}

type MigratedPolicy = { readonly terms: readonly { readonly transactions: readonly object[] }[] }

/** Returns the body of the response, whose status must be between 200 and 299. */
type Caller = (method: string, path: string, body?: unknown) => Promise<Body>
// biome-ignore lint/suspicious/noExplicitAny: bodies of many kinds, of which a story reads a property or two.
type Body = any

export type Accepted = {
  readonly name: string
  /** The size that is doubled three times. */
  readonly smallest: number
  readonly run: (ground: NewPolicyContext, size: number) => Promise<void>
}

const times = <T>(size: number, one: (at: number) => T): T[] =>
  Array.from({ length: size }, (_, at) => one(at))

const repeated = (size: number, text: (at: number) => string): string => times(size, text).join('')

const DAY_MS = 86_400_000
const MONTH_MS = 30 * DAY_MS

async function issuedPolicy({ call, policy }: NewPolicyContext, changes: object = {}): Promise<Body> {
  const { locator } = await call('POST', '/policy', { ...policy, ...changes })
  return await call('POST', `/policy/${locator}/issue`)
}

/** Previews, creates and prices an endorsement, and takes it through every state. */
async function endorsed(
  { step }: NewPolicyContext,
  what: string,
  policy: Body,
  changes: object,
): Promise<void> {
  const request = {
    endorsementName: 'change_of_risk',
    startTimestamp: Number(policy.originalContractStartTimestamp) + MONTH_MS,
  }
  await step(`preview ${what}`, 'POST', `/policy/${policy.locator}/previewEndorsementPrice`, {
    ...request,
    updatePolicy: changes,
  })
  const endorsements = `/policies/${policy.locator}/endorsements`
  const { locator } = await step(`create ${what}`, 'POST', endorsements, { ...request, ...changes })
  const path = `/endorsements/${locator}`
  await step(`price ${what}`, 'GET', `${path}/price`)
  for (const action of ['quote', 'accept']) await step(`${action} ${what}`, 'PATCH', path, { action })
  await step(`policyWhenIssued ${what}`, 'GET', `${path}/policyWhenIssued`)
  await step(`issue ${what}`, 'PATCH', path, { action: 'issue' })
}

type Exposure = { readonly locator: string; readonly perils: readonly { locator: string; name: string }[] }

const revalued = (exposures: readonly Exposure[]): object[] =>
  exposures.map(({ locator }) => ({ exposureLocator: locator, fieldValues: { vehicle_value: '30000' } }))

const POLICIES: readonly Accepted[] = [
  {
    name: 'vehicles of a policy, each of four perils',
    smallest: 20,
    run: async ({ step, policy, vehicle }, size) => {
      const request = { ...policy, finalize: false, exposures: times(size, () => vehicle) }
      const { locator } = await step('create', 'POST', '/policy', request)
      await step('price', 'POST', `/policy/${locator}/price`)
      await step('finalize', 'POST', `/policy/${locator}/finalize`)
      await step('issue', 'POST', `/policy/${locator}/issue`)
      await step('read', 'GET', `/policy/${locator}`)
      await step('snapshot', 'POST', `/policies/${locator}/snapshot`, {})
    },
  },
  {
    name: 'drivers of a policy, each a group of fields',
    smallest: 50,
    run: async ({ step, policy, driver }, size) => {
      const request = { ...policy, finalize: false, fieldGroups: times(size, () => driver) }
      const { locator } = await step('create', 'POST', '/policy', request)
      await step('finalize', 'POST', `/policy/${locator}/finalize`)
      await step('issue', 'POST', `/policy/${locator}/issue`)
    },
  },
  {
    name: 'changes of a draft policy',
    smallest: 20,
    run: async ({ call, step, policy, vehicle, driver }, size) => {
      const { locator } = await call('POST', '/policy', { ...policy, finalize: false })
      const path = `/policy/${locator}/update`
      const added = await step('add', 'POST', path, {
        finalize: false,
        addExposures: times(size, () => vehicle),
        addFieldGroups: times(size, () => driver),
      })
      const exposures: Exposure[] = added.exposures.slice(1)
      await step('update', 'POST', path, { finalize: false, updateExposures: revalued(exposures) })
      await step('remove', 'POST', path, {
        finalize: false,
        removeExposures: exposures.map(one => one.locator),
      })
    },
  },
  {
    name: 'vehicles of a quote',
    smallest: 20,
    run: async ({ call, step, policy, vehicle }, size) => {
      const request = { ...policy, finalize: false, exposures: times(size, () => vehicle) }
      const { locator } = await call('POST', '/policy', request)
      const [first] = await step('list', 'GET', `/policies/${locator}/quotes`)
      const copy = await step('copy', 'POST', `/quotes/${first.locator}/createNew`)
      const path = `/quotes/${copy.locator}`
      await step('update', 'PATCH', path, { updateExposures: revalued(copy.exposures) })
      for (const action of ['quote', 'accept']) await step(action, 'PATCH', `${path}/${action}`)
      await step('price', 'GET', `${path}/price`)
    },
  },
  {
    name: 'changes of an endorsement',
    smallest: 20,
    run: async (ground, size) => {
      const policy = await issuedPolicy(ground, { exposures: times(size, () => ground.vehicle) })
      const exposures: readonly Exposure[] = policy.exposures
      const own = (name: string, { perils }: Exposure) => perils.filter(one => one.name === name)
      const changes: Record<string, object> = {
        'what is new': { addExposures: times(size, () => ground.vehicle) },
        'what changes': {
          updateExposures: revalued(exposures).map((one, at) => ({
            ...one,
            endPerils: own('glass', exposures[at]!).map(peril => peril.locator),
          })),
        },
        'what ends': { endExposures: exposures.slice(1).map(one => one.locator) },
      }
      for (const [name, change] of Object.entries(changes)) await endorsed(ground, name, policy, change)
    },
  },
  {
    // With one vehicle, because the tariff of the example reads all drivers for each vehicle.
    name: 'drivers that an endorsement adds',
    smallest: 50,
    run: async (ground, size) => {
      const policy = await issuedPolicy(ground)
      const added = { addFieldGroups: times(size, () => ground.driver) }
      await endorsed(ground, 'drivers', policy, added)
    },
  },
  {
    name: 'endorsements of a policy',
    smallest: 8,
    run: async (ground, size) => {
      const { call, step } = ground
      const policy = await issuedPolicy(ground)
      const create = {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + MONTH_MS,
        updateExposures: revalued(policy.exposures),
      }
      const path = `/policies/${policy.locator}/endorsements`
      for (let made = 0; made < size; made += 1) await call('POST', path, { ...create, state: 'issued' })
      await step('list', 'GET', path)
      await step('one more', 'POST', path, { ...create, state: 'issued' })
      await step('read', 'GET', `/policy/${policy.locator}`)
    },
  },
  {
    name: 'endorsements that a policy has applied for',
    smallest: 8,
    run: async (ground, size) => {
      const { call, step } = ground
      const policy = await issuedPolicy(ground)
      const path = `/policies/${policy.locator}/endorsements`
      const create = {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + MONTH_MS,
        addExposures: [ground.vehicle],
      }
      for (let made = 0; made < size; made += 1) await call('POST', path, create)
      const { locator } = await step('one more', 'POST', path, create)
      await step('price', 'GET', `/endorsements/${locator}/price`)
      await step('issue', 'PATCH', `/endorsements/${locator}`, { action: 'issue' })
    },
  },
  {
    name: 'vehicles of a renewal',
    smallest: 20,
    run: async (ground, size) => {
      const { step, vehicle } = ground
      const policy = await issuedPolicy(ground, { exposures: times(size, () => vehicle) })
      const end = Number(policy.effectiveContractEndTimestamp) + 12 * MONTH_MS
      const request = { renewalEndTimestamp: end, updateExposures: revalued(policy.exposures) }
      const { locator } = await step('create', 'POST', `/policies/${policy.locator}/renewals`, {
        ...request,
        addExposures: times(size, () => vehicle),
      })
      const path = `/renewals/${locator}`
      await step('price', 'GET', `${path}/price`)
      for (const action of ['quote', 'accept', 'issue']) await step(action, 'PATCH', path, { action })
    },
  },
  {
    name: 'vehicles of a policy that is cancelled',
    smallest: 20,
    run: async (ground, size) => {
      const { step, vehicle } = ground
      const policy = await issuedPolicy(ground, { exposures: times(size, () => vehicle) })
      const cancellation = await step('create', 'POST', `/policies/${policy.locator}/cancellations`, {
        name: 'customer_request',
        effectiveTimestamp: Number(policy.originalContractStartTimestamp) + MONTH_MS,
      })
      const path = `/cancellations/${cancellation.locator}`
      await step('price', 'GET', `${path}/price`)
      await step('issue', 'PATCH', path, { action: 'issue' })
    },
  },
]

const CONTENTS: readonly Accepted[] = [
  {
    name: 'turns of a loop in a document',
    smallest: 250,
    run: async (ground, size) => {
      const { locator } = await issuedPolicy(ground)
      const turn = '{{ i | plus: 1 }} {{ data.policy.locator }} {% if i > 3 %}x{% endif %}'
      await ground.step('HTML', 'POST', '/document/renderPolicyDocument', {
        policyLocator: locator,
        type: 'html',
        template: `{% for i in (1..${size}) %}<p>${turn}</p>{% endfor %}`,
      })
      await ground.step('PDF', 'POST', '/document/renderPolicyDocument', {
        policyLocator: locator,
        type: 'pdf',
        template: `{% for i in (1..${size / 2}) %}<p>${turn}</p>{% endfor %}`,
      })
    },
  },
  {
    name: 'characters of a field that a document prints',
    smallest: 2_000,
    run: async (ground, size) => {
      const values = { ...(ground.policy.fieldValues as object), remarks: 'word '.repeat(size / 5) }
      const { locator } = await issuedPolicy(ground, { fieldValues: values })
      await ground.step('PDF', 'POST', '/document/renderPolicyDocument', {
        policyLocator: locator,
        template: '<p>{{ data.policy.characteristics.last.field_values.remarks }}</p>',
      })
    },
  },
  {
    name: 'vehicles that a document lists',
    smallest: 20,
    run: async (ground, size) => {
      const { locator } = await issuedPolicy(ground, { exposures: times(size, () => ground.vehicle) })
      await ground.step('PDF', 'POST', '/document/renderPolicyDocument', {
        policyLocator: locator,
        template: '{% for e in data.policy.exposures %}<p>{{ e.name }} {{ e.perils.size }}</p>{% endfor %}',
      })
    },
  },
  {
    name: 'items of the payload of a lambda',
    smallest: 1_000,
    run: async ({ step }, size) => {
      await step('sum', 'POST', '/lambda/sum', { items: times(size, at => ({ at, text: 'some text' })) })
    },
  },
  {
    name: 'keys of auxiliary data',
    smallest: 25,
    run: async (ground, size) => {
      const { locator } = await issuedPolicy(ground)
      const auxData = times(size, at => ({ key: `k${at}`, value: 'v' }))
      await ground.step('write', 'PUT', `/auxData/${locator}`, { auxData })
      await ground.step('list', 'GET', `/auxData/${locator}?page=0`)
    },
  },
]

const rowsOf = (size: number, row: (at: number) => string): string => `key,value\n${repeated(size, row)}`

/** Uploads a table, and then replaces it with the same content. */
const table = (name: string, smallest: number, kind: string, text: (size: number) => string): Accepted => ({
  name,
  smallest,
  run: async ({ step, file, newName, tenantLocator }, size) => {
    const own = newName()
    const path = `/resource/${tenantLocator}/${kind}`
    const content = text(size)
    await step('upload', 'POST', `${path}?name=${own}&staticName=${own}`, file(content, 't.csv'))
    await step('replace', 'PATCH', `${path}/${own}`, file(content, 't.csv'))
  },
})

const RESOURCES: readonly Accepted[] = [
  table('rows of a table', 500, 'tables', size => rowsOf(size, at => `k${at},${at}\n`)),
  table('rows of a table that repeat each key', 500, 'tables', size =>
    rowsOf(size, at => `k${at % (size / 2)},1\n`),
  ),
  table('rows of a table of one key', 500, 'tables', size => rowsOf(size, () => 'k,1\n')),
  table(
    ...(['rows of a range table', 500, 'rangeTables'] as const),
    size => `key,rangeStart,rangeEnd,value\n${repeated(size, at => `k,${at},${at + 1},${at}\n`)}`,
  ),
  {
    name: 'rows of a constraint table, and vehicles held against them',
    smallest: 20,
    run: async ({ call, step, file, newName, tenantLocator, policy, vehicle }, size) => {
      const own = newName()
      const root = `/resource/${tenantLocator}`
      const rows = repeated(size * 20, at => `make${at % 20},model${at}\n`)
      await step(
        ...(['upload', 'POST', `${root}/constraints?name=${own}&staticName=vehicles`] as const),
        file(`make,model\n${rows}`, 't.csv'),
      )
      await call('POST', `${root}/groups`, { name: own, selectionStartTime: 0, resourceNames: [own] })
      const fieldValues = { ...(vehicle as { fieldValues: object }).fieldValues, make: 'make1' }
      const request = {
        ...policy,
        finalize: false,
        exposures: times(size, () => ({ ...vehicle, fieldValues })),
      }
      const { locator, exposures } = await step('create', 'POST', '/policy', request)
      const [quote] = await call('GET', `/policies/${locator}/quotes`)
      const path = `/policy/${tenantLocator}/quotes/${quote.locator}/constraints`
      const asked = Object.fromEntries(
        (exposures as Exposure[]).map(one => [one.locator, { model: { make: 'make2' } }]),
      )
      await step('evaluate', 'POST', `${path}/evaluate`, asked)
      await step('dependency', 'GET', `${path}/dependency`)
      await step('record', 'GET', `${root}/constraints/vehicles/record?key=make1`)
    },
  },
]

const TENANTS: readonly Accepted[] = [
  {
    name: 'event types of a webhook',
    smallest: 50,
    run: async ({ step, newName, tenantLocator }, size) => {
      const path = `/event/${tenantLocator}/webhooks`
      const { locator } = await step('create', 'POST', path, {
        name: newName(),
        enabled: false,
        eventTypes: times(size, at => `custom.a${at}`),
        endpoint: { url: 'https://hooks.example.com/' },
        failureHandling: {},
      })
      await step('change', 'PATCH', `${path}/${locator}`, {
        addEventTypes: times(size, at => `custom.b${at}`),
        removeEventTypes: times(size, at => `custom.a${at}`),
      })
    },
  },
  {
    name: 'accounts of a migration',
    smallest: 3,
    run: async ({ migrated, migratedAccount, newName }, size) => {
      await migrated(
        'migrate',
        times(size, () => migratedAccount(newName())),
      )
    },
  },
  {
    name: 'policies of a migrated account',
    smallest: 5,
    run: async ({ migrated, migratedAccount, migratedPolicy, newName }, size) => {
      const policies = times(size, at => withoutInvoices(migratedPolicy(`P${at}`, 'none')))
      await migrated('migrate', [
        migratedAccount(newName(), {
          policies,
          invoices: [],
          payments: [],
          disbursements: [],
          accounting: undefined,
        }),
      ])
    },
  },
  {
    name: 'transactions of a migrated policy',
    smallest: 5,
    run: async ({ migrated, migratedAccount, migratedPolicy, newName }, size) => {
      const policies = [withChanges(migratedPolicy('P1', 'none'), size)]
      await migrated('migrate', [
        migratedAccount(newName(), {
          policies,
          invoices: [],
          payments: [],
          disbursements: [],
          accounting: undefined,
        }),
      ])
    },
  },
  deployed('files of an archive', 10, size =>
    Object.fromEntries(times(size, at => [`products/p/policy/exposures/e${at}/exposure.json`, exposure(at)])),
  ),
  deployed('fields of a product', 100, size => ({
    'products/p/policy/policy.json': JSON.stringify({
      fields: times(size, at => ({ name: `f${at}`, title: 'F', type: 'string', optional: true })),
    }),
  })),
  deployed('tables of a product', 10, size =>
    Object.fromEntries(times(size, at => [`products/p/policy/tables/t${at}.csv`, 'key,value\nk,1\n'])),
  ),
  deployed('rows of a table of a product', 500, size => ({
    'products/p/policy/tables/t.csv': rowsOf(size, at => `k${at},${at}\n`),
  })),
]

/** Removes the invoices from the installments of a migrated policy, because this account has none. */
function withoutInvoices(policy: MigratedPolicy): object {
  return JSON.parse(JSON.stringify(policy, (key, value) => (key === 'invoiceId' ? undefined : value)))
}

/** The policy with a change on each day after its start. */
function withChanges(policy: MigratedPolicy, changes: number): object {
  const [term] = policy.terms
  const [issuance] = term!.transactions as { issuedTime: string; segment: { rootElement: object } }[]
  const start = Date.parse('2026-03-01T00:00:00+01:00')
  const uncharged = JSON.parse(
    JSON.stringify(issuance!.segment.rootElement, (key, value) => (key === 'charges' ? [] : value)),
  )
  const change = (at: number): object => ({
    transactionType: 'change',
    issuedTime: Date.parse(issuance!.issuedTime) + (at + 1) * 60_000,
    segment: { segmentType: 'coverage', startTime: start + (at + 1) * DAY_MS, rootElement: uncharged },
    installments: [],
  })
  const transactions = [issuance!, ...times(changes, change)]
  return withoutInvoices({ ...policy, terms: [{ ...term!, transactions }] })
}

const exposure = (at: number): string => JSON.stringify({ name: `e${at}`, displayName: 'E', fields: [] })

/** Deploys a small configuration with the files to a test tenant. */
function deployed(
  name: string,
  smallest: number,
  files: (size: number) => Readonly<Record<string, string>>,
): Accepted {
  const run: Accepted['run'] = async ({ step, archive }, size) => {
    const { success, logfile } = await step(
      'deploy',
      'POST',
      '/configuration/deployTest',
      archive(files(size)),
    )
    if (!success) throw new Error(`The deploy of ${name} was refused:\n${logfile}`)
  }
  return { name, smallest, run }
}

export const ACCEPTED: readonly Accepted[] = [...POLICIES, ...CONTENTS, ...RESOURCES, ...TENANTS]
