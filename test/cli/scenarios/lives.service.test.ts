// The scenarios of the examples, step by step against the service. After each step, every record and amount of the policy
// computed without a service equals that of the service.

import { beforeAll, describe, expect, it } from 'vitest'
import { NOTHING_GIVEN } from '../../../cli/offline/given.ts'
import { PolicyLife } from '../../../cli/offline/life.ts'
import { readBody } from '../../../cli/scenario/contract.ts'
import { readScenarios, type Scenario } from '../../../cli/scenario/format.ts'
import { targetOf, withLocators } from '../../../cli/scenario/references.ts'
import { STEPS, type StepDefinition } from '../../../cli/scenario/steps.ts'
import { readTime, withTimes } from '../../../cli/scenario/times.ts'
import homeLife from '../../../examples/home/scenarios/life.yaml?raw'
import homeUnpaid from '../../../examples/home/scenarios/unpaid.yaml?raw'
import motorLife from '../../../examples/motor/scenarios/life.yaml?raw'
import motorUnpaid from '../../../examples/motor/scenarios/unpaid.yaml?raw'
import { checkedInvoices } from '../../../src/billing/payments.ts'
import { Refusal } from '../../../src/kernel/errors.ts'
import type { Instant, TimeZone } from '../../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../../src/policy/contract/requests.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import { isIssued } from '../../../src/policy/fold/line.ts'
import { policyResponse, policyView } from '../../../src/policy/projection/policy.ts'
import { selectedQuote } from '../../../src/policy/records/aggregate.ts'
import { loadedConfiguration } from '../../../src/product/cache.ts'
import { compileArchive } from '../../../src/product/compile.ts'
import { compileTemplate } from '../../../src/product/templates/liquid.ts'
import { getPolicyPriceResponse, policyPriceResponse } from '../../../src/rating/price.ts'
import { graceLapseReinstatements } from '../../../src/transactions/lapses/projection.ts'
import { callApi, callOk } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { type ArchiveFiles, archiveOf, deployExample, exampleFiles } from '../../support/examples.ts'
import { yearsOnOf } from '../../support/motor.ts'
import { movedOn } from '../../support/years.ts'

const EXAMPLES = {
  motor: { life: motorLife, unpaid: motorUnpaid },
  home: { life: homeLife, unpaid: homeUnpaid },
} as const

type Example = keyof typeof EXAMPLES

/** Removes documents. Rendering them takes more work than everything else, and other tests compare their texts. */
function withoutPapers(example: Example): ArchiveFiles {
  const bare: ArchiveFiles = { ...exampleFiles(example) }
  for (const [path, content] of Object.entries(bare)) {
    if (/\.template\.liquid$|\/static_documents\//.test(path)) delete bare[path]
    if (/policy\/(policy|endorsements|renewals|cancellations)\.json$/.test(path))
      bare[path] = JSON.stringify(
        JSON.parse(new TextDecoder().decode(content as Uint8Array), (key, value) =>
          key === 'documents' && Array.isArray(value) ? [] : value,
        ),
      )
  }
  return bare
}

/** The clock of the service advances while it works. */
const TOLERANCE_MS = 10 * 60_000

/** Pairs of locators: that of the life, and that of the service. */
type Pairs = Map<string, string>

const LOCATORS = /locators?$|^(?:displayId|by\w*Locator|selected)$/i

/**
 * Compares the value of the service with that of the life. Locators must correspond everywhere, and times of recording may differ
 * by what the service took.
 */
function assertAlike(offline: unknown, service: unknown, pairs: Pairs, path: string, name = ''): void {
  if (Array.isArray(offline) && Array.isArray(service)) {
    expect(offline.length, path).toBe(service.length)
    for (const [at, one] of offline.entries()) assertAlike(one, service[at], pairs, `${path}[${at}]`, name)
    return
  }
  if (typeof offline === 'object' && offline !== null && typeof service === 'object' && service !== null) {
    const isByLocator = /ByLocator$|ByExposureLocator$|ByPerilLocator$/i.test(name)
    if (isByLocator) {
      assertAlike(Object.values(offline), Object.values(service), pairs, `${path}.*`)
      return
    }
    const [own, other] = [offline, service].map(one =>
      Object.entries(one).filter(([, value]) => value !== undefined),
    )
    expect(own!.map(([key]) => key).sort(), path).toEqual(other!.map(([key]) => key).sort())
    for (const [key, value] of own!)
      assertAlike(value, (service as Record<string, unknown>)[key], pairs, `${path}.${key}`, key)
    return
  }
  if (/timestamp$/i.test(name)) {
    expect(Math.abs(Number(offline) - Number(service)), `${path}: ${offline}, ${service}`).toBeLessThan(
      TOLERANCE_MS,
    )
    return
  }
  const isLocator =
    LOCATORS.test(name) ||
    (typeof offline === 'string' && /^(?:[\da-f]{8}-[\da-f-]{27}|\d{9,16})$/.test(offline))
  if (isLocator && typeof offline === 'string') {
    const known = pairs.get(offline)
    if (known === undefined) pairs.set(offline, String(service))
    else expect(String(service), path).toBe(known)
    return
  }
  expect(offline, path).toEqual(service)
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

async function compareLife(example: Example, text: string, suffix: string): Promise<number> {
  const files = withoutPapers(example)
  const { configuration } = await compileArchive(archiveOf(files))
  const { token } = await deployExample(files, suffix)
  const zone = configuration!.timeZone as TimeZone
  const { scenarios, problems } = readScenarios('life.yaml', movedOn(text), 'life')
  expect(problems).toEqual([])
  const scenario = scenarios[0]!
  const { request } = yearsOnOf(example)
  const at = readTime(scenario.at, zone)!
  const life = new PolicyLife(
    {
      configuration: loadedConfiguration(configuration!, suffix, compileTemplate),
      given: NOTHING_GIVEN,
      openSandbox: () => Promise.reject(new Error('The example switches no plugin on.')),
      staticFiles: () => async () => undefined,
    },
    at,
    request.policyholder.values,
  )
  const read = readBody(PolicyCreateRequest, {
    ...request.policy,
    policyholderLocator: life.policyholder.locator,
  })
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))

  const pairs: Pairs = new Map()
  const move = (timestamp: number) => callOk('POST', '/test/clock', { token, body: { timestamp } })
  await move(at)
  const holder = await callOk<{ locator: string }>('POST', '/policyholder/create', {
    token,
    body: { completed: true, ...request.policyholder },
  })
  pairs.set(life.policyholder.locator, holder.locator)
  const made = await callOk<PolicyResponse>('POST', '/policy', {
    token,
    body: { ...request.policy, policyholderLocator: holder.locator },
  })
  assertAlike(plain(await life.create(read.value)), made, pairs, 'the new policy')
  const named = new Map<string, string>()
  let compared = 1
  for (const step of scenario.steps) {
    const when = step.at === undefined ? undefined : readTime(step.at, zone)!
    if (when !== undefined) {
      await life.advance(when)
      // The service may have worked for longer than the step takes, so its clock is set as well.
      await move(when)
      await compareNow(life, made.locator, token, pairs, `by ${step.at}`)
    }
    if (step.does !== 'wait') {
      await carryOut(step, life, { token, policy: made.locator, zone, pairs, named })
      // What falls due immediately is carried out, by the service a moment later.
      const moment = (life.now + 60_000) as Instant
      await life.advance(moment)
      await move(moment)
    }
    await compareNow(life, made.locator, token, pairs, `after ${step.does} at ${step.at}`)
    compared += 1
  }
  return compared
}

type Place = {
  readonly token: string
  readonly policy: string
  readonly zone: TimeZone
  readonly pairs: Pairs
  readonly named: ReadonlyMap<string, string>
}

async function carryOut(
  step: Scenario['steps'][number],
  life: PolicyLife,
  { token, policy, zone, pairs, named }: Place,
): Promise<void> {
  const definition: StepDefinition = STEPS[step.does as keyof typeof STEPS]
  const isOther = definition.alternative && Object.hasOwn(step.body, definition.alternative.property)
  const { body: schema, route } = isOther ? definition.alternative! : definition
  const record = definition.target && targetOf(life.aggregate, definition.target, step.of, named)
  const asked = isOther ? step.body : { ...definition.unlessSaid, ...step.body }
  const timed = withTimes(asked, time => readTime(time, zone) ?? time)
  const own = () => policyResponse(life.aggregate, life.loaded.product, { summarizeQuotes: false })
  const read = schema ? readBody(schema, withLocators(timed, own)) : { value: undefined }
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  const [method, path] = route.split(' ') as [string, string]
  const stored = await callOk<PolicyResponse>('GET', `/policy/${policy}`, { token })
  const answer = await callApi<Record<string, unknown>>(
    method,
    path.replace('{policy}', policy).replace('{record}', pairs.get(String(record)) ?? String(record)),
    { token, ...(schema && { body: withLocators(timed, () => stored) }) },
  )
  try {
    const shown = await life.carryOut(definition.operation(read.value as never, record as never))
    expect(answer.status, `${step.does}: ${JSON.stringify(answer.body)}`).toBe(200)
    if (answer.body) assertAlike(plain(shown), answer.body, pairs, step.does)
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    expect({ code: problem.code, message: problem.message }).toMatchObject({ code: answer.body.code })
    expect(answer.status).toBeGreaterThanOrEqual(400)
  }
}

async function compareNow(
  life: PolicyLife,
  policy: string,
  token: string,
  pairs: Pairs,
  when: string,
): Promise<void> {
  const get = (path: string): Promise<unknown> => callOk('GET', path, { token })
  const { aggregate, product } = life.loaded
  const quote = selectedQuote(aggregate)
  const price = policyPriceResponse(policyView(aggregate, quote, product, isIssued))
  const own: Record<string, unknown> = {
    [`/policy/${policy}`]: policyResponse(aggregate, product, { summarizeQuotes: false }),
    [`/policy/${policy}/price`]: getPolicyPriceResponse(price),
    [`/policy/${policy}/checkInvoices`]: checkedInvoices(aggregate),
    [`/policy/${policy}/graceLapseReinstatements`]: graceLapseReinstatements(aggregate, product),
  }
  for (const [path, value] of Object.entries(own))
    assertAlike(plain(value), await get(path), pairs, `${when}, ${path}`)
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
})

describe('a life without a service', () => {
  it.each([
    ['motor', 'life', 11],
    ['motor', 'unpaid', 7],
    ['home', 'life', 9],
    ['home', 'unpaid', 7],
  ] as const)('equals that of the service: %s, %s', async (example, name, moments) => {
    const compared = await compareLife(example, EXAMPLES[example][name], `${example}${name}`)
    expect(compared).toBe(moments)
  })
})
