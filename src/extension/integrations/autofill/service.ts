// Registers the calls that fill in operations. They are part of the tenant's record (platform/tenancy), so requests need no
// separate read; other isolates see a change within 5 s.
import { and, eq, sql } from 'drizzle-orm'
import { recordAudit } from '../../../access/audit/store.ts'
import { invalidRequest, notFound, type Refusal, tooLarge, wrongState } from '../../../kernel/errors.ts'
import { newUuid } from '../../../kernel/locators.ts'
import type { RequestContext } from '../../../platform/context.ts'
import {
  type AutofillOperations,
  type RegisteredOperation,
  tenants,
} from '../../../platform/tenancy/control-tables.ts'
import {
  controlDatabase,
  forgetTenants,
  HOME_SHARD,
  homeDatabase,
  readTenant,
} from '../../../platform/tenancy.ts'
import type {
  AutofillCallResponse,
  AutofillIntegrationCreateRequest,
  AutofillIntegrationResponse,
} from '../contract.ts'
import { readIntegrations, touchIntegrations } from '../store.ts'
import { INTERNAL } from './sequence.ts'

/** The most operations of a tenant. Registering more rejects with 413. Every message to a policy's object contains all of them. */
const MOST_OPERATIONS = 50

/** Lists the registered operations, sorted by name. Reads the tenant again, since the request's may be 5 s old. */
export async function listOperations(context: RequestContext): Promise<AutofillIntegrationResponse> {
  const operations = await readRegistered(context)
  return {
    calls: Object.keys(operations)
      .sort()
      .map(name => response(name, operations[name]!)),
  }
}

/** Throws 404 if no operation with the locator is registered. */
export async function readOperation(context: RequestContext, locator: string): Promise<AutofillCallResponse> {
  const [name, operation] = findOperation(await readRegistered(context), locator)
  return response(name, operation)
}

/** Registers the operation, or replaces its calls. Rejects with 400 unknown integrations. */
export async function putOperation(
  context: RequestContext,
  { operation: name, callSequence }: AutofillIntegrationCreateRequest,
): Promise<AutofillCallResponse> {
  const [operations, integrations] = await Promise.all([readRegistered(context), readIntegrations(context)])
  const unknown = callSequence.filter(
    one => one !== INTERNAL && integrations.get(one)?.type !== 'data_autofill',
  )
  if (unknown.length > 0) throw unknownIntegrations(unknown)
  const before = Object.hasOwn(operations, name) ? operations[name] : undefined
  if (!before && Object.keys(operations).length >= MOST_OPERATIONS)
    throw tooLarge(`A tenant can have at most ${MOST_OPERATIONS} autofill operations.`)
  const operation = { locator: before?.locator ?? newUuid(HOME_SHARD), callSequence }
  await write(context, name, operation)
  await requireStillThere(context, { name, before, operation })
  return response(name, operation)
}

type Registering = {
  readonly name: string
  readonly before: RegisteredOperation | undefined
  readonly operation: RegisteredOperation
}

/**
 * Restores the previous operation and throws 400 if one of its integrations was removed meanwhile.
 * Integrations and operations are in different databases, so this touches the integrations after the operation is registered. A
 * removal that did not see the operation then finds its integration changed, and reads again. An integration that was removed
 * before is found missing here.
 */
async function requireStillThere(
  context: RequestContext,
  { name, before, operation }: Registering,
): Promise<void> {
  const wanted = [...new Set(operation.callSequence)].filter(one => one !== INTERNAL)
  if (wanted.length === 0) return
  const touched = await touchIntegrations(homeDatabase(context), wanted, 'data_autofill')
  const missing = wanted.filter(one => !touched.includes(one))
  if (missing.length === 0) return
  const database = controlDatabase(context.env, context.calls)
  const isOurs = sql`exists (select 1 from json_each(${tenants.autofill}) as one
    where one.key = ${name} and one.value ->> 'callSequence' = ${JSON.stringify(operation.callSequence)})`
  await database.batch([
    database.build
      .update(tenants)
      .set({ autofill: patched(name, before ?? null) })
      .where(and(isThis(context), isOurs)),
  ])
  forgetTenants()
  throw unknownIntegrations(missing)
}

const unknownIntegrations = (names: readonly string[]): Refusal =>
  invalidRequest(
    `There is no integration of type data_autofill named ${names.map(one => `'${one}'`).join(', ')}; register it with POST /integrations first, or use the plugin: '${INTERNAL}'.`,
  )

/** Throws 404 if no operation with the locator is registered. An audit entry is recorded first. */
export async function removeOperation(context: RequestContext, locator: string): Promise<void> {
  const [name] = findOperation(await readRegistered(context), locator)
  await write(context, name, null)
}

/** Throws 409 while an operation is filled in by the integration of that name. */
export async function assertNotInAutofill(context: RequestContext, integration: string): Promise<void> {
  const operations = await readRegistered(context)
  const name = Object.keys(operations).find(one => operations[one]!.callSequence.includes(integration))
  if (name === undefined) return
  throw wrongState(
    `The integration '${integration}' completes the operation '${name}'; register different calls for the operation with PUT /integrations/autofill, or remove the operation.`,
  )
}

/** Reads again, because the tenant record of the request may be 5 s old. */
async function readRegistered({ env, tenant, calls }: RequestContext): Promise<AutofillOperations> {
  return (await readTenant(env, { locator: tenant.locator }, calls))?.autofill ?? {}
}

function findOperation(operations: AutofillOperations, locator: string): [name: string, RegisteredOperation] {
  const operation = Object.entries(operations).find(([, one]) => one.locator === locator.toLowerCase())
  if (!operation) throw notFound('autofill operation', locator)
  return operation
}

/** Sets the operation; null removes it. */
async function write(
  context: RequestContext,
  name: string,
  operation: RegisteredOperation | null,
): Promise<void> {
  const { env, tenant, calls } = context
  await recordAudit(context, {
    action: operation ? 'integrations.write' : 'integrations.delete',
    subject: name,
    details: { type: 'operation', ...(operation && { callSequence: operation.callSequence }) },
  })
  const database = controlDatabase(env, calls)
  // Returns no row if the tenant was recreated or deleted.
  const [rows] = await database.batch([
    database.build
      .update(tenants)
      .set({ autofill: patched(name, operation) })
      .where(and(isThis(context), eq(tenants.status, 'active')))
      .returning({ locator: tenants.locator }),
  ])
  forgetTenants()
  if (rows.length === 0) throw notFound('tenant', tenant.locator)
}

/** Null removes the operation. */
const patched = (name: string, operation: RegisteredOperation | null) =>
  sql`json_patch(${tenants.autofill}, ${JSON.stringify({ [name]: operation })})`

const isThis = ({ tenant: { locator, generation } }: RequestContext) =>
  and(eq(tenants.locator, locator), eq(tenants.generation, generation))

const response = (
  operation: string,
  { locator, callSequence }: RegisteredOperation,
): AutofillCallResponse => ({ locator, operation, callSequence: [...callSequence] })
