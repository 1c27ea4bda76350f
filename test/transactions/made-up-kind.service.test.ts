// Adding a kind of operation needs only its value in the registry (docs/design.md, section 4). The example is an inspection with
// its own record, state table and response. The record is a modification that charges nothing.
import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { notFound } from '../../src/kernel/errors.ts'
import { newUuid, type PolicyLocator, type Uuid } from '../../src/kernel/locators.ts'
import { zero } from '../../src/kernel/money.ts'
import { type Instant, now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import type { JsonAnswer } from '../../src/platform/commit.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import { assertAllowed, type TransitionTable } from '../../src/platform/events/transitions.ts'
import { entityTag } from '../../src/platform/http/entity-tags.ts'
import { readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import type { ConflictResponse } from '../../src/policy/contract/requests.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../src/policy/records/aggregate.ts'
import {
  newModification,
  type Planned,
  policyEvent,
  versionProperties,
} from '../../src/policy/transitions.ts'
import { KINDS } from '../../src/transactions/kinds.ts'
import {
  defineKind,
  type PolicyOperation,
  type Response,
  registerKinds,
} from '../../src/transactions/mechanism/kind.ts'
import { execute } from '../../src/transactions/object/execution.ts'
import type { PolicyMemory } from '../../src/transactions/object/memory.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

type State = 'ordered' | 'done' | 'dropped'

const TRANSITIONS: TransitionTable<'complete' | 'drop', State> = {
  complete: { from: ['ordered'], to: 'done', event: 'policy.update', past: 'completed' },
  drop: { from: ['ordered'], to: 'dropped', event: 'policy.update', past: 'dropped' },
}

type InspectionOperation = { action: 'order' } | { action: 'complete' | 'drop'; inspection: Uuid }

declare module '../../src/transactions/mechanism/kind.ts' {
  interface PolicyOperations {
    inspection: { operation: InspectionOperation }
  }
}

const NAME = 'modification.policy.inspection'

const inspectionsOf = ({ modifications }: PolicyAggregate): Modification[] =>
  [...modifications.values()].filter(one => one.name === NAME)

function inspectionOf(aggregate: PolicyAggregate, locator: Uuid): Modification {
  const found = inspectionsOf(aggregate).find(one => one.locator === locator)
  if (!found) throw notFound('inspection', locator)
  return found
}

function stateOf({ issuedAt, invalidatedAt }: Modification): State {
  if (invalidatedAt !== undefined) return 'dropped'
  return issuedAt === undefined ? 'ordered' : 'done'
}

function put(before: PolicyAggregate, inspection: Modification): Planned {
  const aggregate = { ...before, modifications: putRecords(before.modifications, [inspection]) }
  return { aggregate, events: [policyEvent(aggregate, 'policy.update', versionProperties(aggregate))] }
}

function advance(
  before: PolicyAggregate,
  locator: Uuid,
  action: keyof typeof TRANSITIONS,
  now: Instant,
): Planned {
  const inspection = inspectionOf(before, locator)
  assertAllowed(TRANSITIONS, `Inspection ${locator}`, stateOf(inspection), action)
  const times = action === 'complete' ? { issuedAt: now } : { invalidatedAt: now }
  return put(before, { ...inspection, ...times, updatedAt: now })
}

const show =
  (locator: Uuid): Response =>
  ({ aggregate }) => ({
    locator,
    policyLocator: String(aggregate.policy.locator),
    inspectionState: stateOf(inspectionOf(aggregate, locator)),
  })

const inspectionKind = defineKind<'inspection'>({
  name: 'inspection',
  locators: ({ operation }) => (operation.action === 'order' ? 1 : 0),
  record: ({ operation }) => (operation.action === 'order' ? undefined : show(operation.inspection)),
  decide({ aggregate }, { operation }, { attempt }) {
    if (operation.action !== 'order') {
      const { action, inspection } = operation
      const planned = advance(aggregate, inspection, action, attempt.now)
      return { planned, response: show(inspection), subject: inspection }
    }
    const { effectiveEnd: policyEnd, currency } = aggregate.policy
    const inspection = newModification(
      aggregate,
      {
        // Charges nothing and is not listed in responses.
        kind: 'scheduleChange',
        name: NAME,
        effectiveAt: attempt.now,
        policyEnd,
        premiumChange: zero(currency),
      },
      attempt,
    )
    const { locator } = inspection
    return { planned: put(aggregate, inspection), response: show(locator), subject: locator }
  },
  pending: aggregate =>
    inspectionsOf(aggregate)
      .filter(one => stateOf(one) === 'ordered')
      .map(({ locator, createdAt }) => ({
        kind: 'inspection' as ConflictResponse['kind'],
        locator,
        state: 'accepted',
        createdAt,
        takeBack: (from, now) => advance(from, locator, 'drop', now),
      })),
})

let motor: Motor
let tenant: Tenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('inspections')
  tenant = (await readTenant(env, { name: motor.tenantName }, noCalls()))!
  registerKinds([...KINDS, inspectionKind])
})

afterAll(() => {
  registerKinds(KINDS)
})

/** The object of a policy with this registry. The service's own object does not know inspections. */
function objectOf(locator: PolicyLocator) {
  const memory: PolicyMemory = {}
  return async <Body>(operation: PolicyOperation, more: Partial<RequestContext> = {}): Promise<Body> => {
    const caller = { accountLocator: newUuid(0), username: 'alice', accountType: 'account.test.tenant.admin' }
    const requestId = newUuid(0)
    const context = { env, tenant, caller, requestId, now: now(), calls: noCalls(), later: () => {}, ...more }
    const answer = await execute(context as RequestContext, { ...context, locator, operation }, memory)
    const { text } = answer as JsonAnswer
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }
}

type InspectionAnswer = { locator: Uuid; policyLocator: string; inspectionState: State }

async function issuedPolicy() {
  const { body } = await motor.createPolicy({ paymentScheduleName: 'monthly' })
  const { status } = await motor.post(`/policy/${body.locator}/issue`)
  expect(status).toBe(200)
  const locator = Number(body.locator) as PolicyLocator
  return { locator, ask: objectOf(locator) }
}

const inspect = (operation: InspectionOperation): PolicyOperation => ({ kind: 'inspection', operation })

it('a registered kind of operation has its own record, response and states', async () => {
  const { locator, ask } = await issuedPolicy()
  const ordered = await ask<InspectionAnswer>(inspect({ action: 'order' }))
  expect(ordered).toMatchObject({ policyLocator: String(locator), inspectionState: 'ordered' })
  const complete = inspect({ action: 'complete', inspection: ordered.locator })
  expect(await ask(complete)).toEqual({ ...ordered, inspectionState: 'done' })
  await expect(ask(complete)).rejects.toMatchObject({ code: 'wrongState' })
  await expect(ask(inspect({ action: 'drop', inspection: newUuid(0) }))).rejects.toMatchObject({
    code: 'notFound',
  })
})

it('its record is stored with the policy, and another instance of the policy’s object reads it', async () => {
  const { locator, ask } = await issuedPolicy()
  const { locator: inspection } = await ask<InspectionAnswer>(inspect({ action: 'order' }))
  const dropped = await objectOf(locator)<InspectionAnswer>(inspect({ action: 'drop', inspection }))
  expect(dropped.inspectionState).toBe('dropped')
})

it('its record is compared with If-Match, and a repeat returns the original response', async () => {
  const { ask } = await issuedPolicy()
  const idempotency = { key: newUuid(0), bodyHash: 'order' }
  const ordered = await ask<InspectionAnswer>(inspect({ action: 'order' }), { idempotency })
  const { locator: inspection } = ordered
  const ifMatch = [entityTag(JSON.stringify(ordered))]
  await ask(inspect({ action: 'complete', inspection }), { ifMatch })
  await expect(ask(inspect({ action: 'drop', inspection }), { ifMatch })).rejects.toMatchObject({
    code: 'preconditionFailed',
  })
  expect(await ask(inspect({ action: 'order' }), { idempotency })).toEqual(ordered)
})

it('a pending record blocks other kinds, which name it or take it back', async () => {
  const { ask } = await issuedPolicy()
  const { locator: inspection } = await ask<InspectionAnswer>(inspect({ action: 'order' }))
  await expect(ask({ kind: 'paymentSchedule', name: 'upfront' })).rejects.toThrow(inspection)
  await ask({ kind: 'cancellation', operation: { action: 'withdraw' } })
  await expect(ask(inspect({ action: 'complete', inspection }))).rejects.toThrow('dropped')
})
