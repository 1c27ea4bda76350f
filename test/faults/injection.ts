// Injects faults inside the runtime by wrapping the methods of the platform's bindings and of Durable Objects; the service itself
// is unchanged. Tests and service share one isolate, so each kind of binding has one prototype for both.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { AsyncLocalStorage } from 'node:async_hooks'
import { atFileStart } from '../support/fresh-start/memory.ts'
import type { FaultKind, Faults } from './kinds.ts'

const LOST = 'D1_ERROR: Network connection lost.'

let current: Faults | undefined

/** Injects these faults from now on; none for undefined. */
export function inject(faults: Faults | undefined): void {
  current = faults
}

/** Databases that do not respond for a while. */
export type Away = 'control' | 'tenants'

let away: Away | undefined

/** Makes these databases unavailable from now on; none for undefined. */
export function takeAway(which: Away | undefined): void {
  away = which
}

/** Tables that only the control database has. */
const OF_CONTROL =
  /"(?:tenant|shard|administrator|administration_\w+|pool_database|allowed_origin|revocation)"/

/** Whether the statements are for an unavailable database, judged by their tables. */
const isAway = (statements: readonly { readonly statement: string }[]): boolean =>
  away !== undefined &&
  statements.some(({ statement }) => OF_CONTROL.test(statement)) === (away === 'control')

const comes = (kind: FaultKind): boolean => current?.comes(kind) ?? false

/** The object in which the current call runs. */
const inObject = new AsyncLocalStorage<DurableObjectState>()

// biome-ignore lint/suspicious/noExplicitAny: a method of the platform's, of whatever shape.
type Method = (this: any, ...given: any[]) => any
type Methods = Record<string, Method>

/** Replaces the method by a call of `by`, which is given the original method. */
function wrap(
  owner: object,
  name: string,
  by: (self: object, given: unknown[], own: Method) => unknown,
): void {
  const methods = owner as Methods
  const own = methods[name]!
  methods[name] = function (this: object, ...given: unknown[]) {
    return by(this, given, own)
  }
}

const prototypeOf = (value: object): object => Object.getPrototypeOf(value) as object

/** Ends the object in which the call runs, if any, and leaves its work unfinished. Calls `before` first. */
async function endObject(
  kind: FaultKind,
  message = 'The object was moved.',
  before: (state: DurableObjectState) => Promise<void> = async () => {},
): Promise<void> {
  const state = inObject.getStore()
  if (!state || !comes(kind)) return
  await before(state)
  state.abort(message)
  await scheduler.wait(60_000)
}

const UPDATED = 'Durable Object reset because its code was updated.'
const OVERLOADED = 'Requests queued for too long.'

async function loseStorage({ storage }: DurableObjectState): Promise<void> {
  await storage.deleteAlarm()
  await storage.deleteAll()
}

function wrapDatabases(): void {
  wrap(prototypeOf(env.CONTROL.withSession()), 'batch', async (self, given, own) => {
    if (isAway(given[0] as { statement: string }[])) throw new Error(LOST)
    if (!current) return own.apply(self, given)
    await endObject('objectBefore')
    await endObject('objectUpdated', UPDATED)
    await endObject('storageLost', UPDATED, loseStorage)
    if (comes('databaseOverloaded')) throw new Error(`D1_ERROR: D1 DB is overloaded. ${OVERLOADED}`)
    if (comes('batchBefore')) throw new Error(LOST)
    const results = (await own.apply(self, given)) as D1Result[]
    if (!results.some(({ meta }) => meta.changes > 0)) return results
    await endObject('objectAfter')
    if (comes('batchAfter')) throw new Error(LOST)
    return results
  })
}

function wrapQueues(): void {
  for (const name of ['send', 'sendBatch'])
    wrap(prototypeOf(env.ANNOUNCEMENTS), name, async (self, given, own) => {
      if (comes('messageRefused')) throw new Error('Queue sending failed: Internal server error')
      if (comes('messageDropped')) return
      if (comes('messageLate')) await scheduler.wait(current?.wait(300) ?? 0)
      if (comes('messageRepeated')) await own.apply(self, given)
      return own.apply(self, given)
    })
}

function wrapFiles(): void {
  const files = prototypeOf(env.FILES)
  for (const name of ['get', 'head', 'list'])
    wrap(files, name, async (self, given, own) => {
      if (comes('fileReadFails')) throw new Error(`${name}: We encountered an internal error. (10001)`)
      return own.apply(self, given)
    })
  for (const name of ['put', 'delete', 'createMultipartUpload'])
    wrap(files, name, async (self, given, own) => {
      if (comes('fileWriteBefore')) throw new Error(`${name}: We encountered an internal error. (10001)`)
      const result = await own.apply(self, given)
      if (comes('fileWriteAfter')) throw new Error(`${name}: We encountered an internal error. (10001)`)
      return result
    })
}

type Instance = { ctx: DurableObjectState }

/** Records for each call of an object in which object it runs. */
async function wrapObjects(): Promise<void> {
  for (const namespace of [env.POLICY, env.DISPATCHER, env.DELIVERY, env.MIGRATION]) {
    const any = namespace as unknown as DurableObjectNamespace
    await runInDurableObject(any.get(any.newUniqueId()), instance => {
      const own = prototypeOf(instance)
      for (const name of Object.getOwnPropertyNames(own).filter(one => one !== 'constructor'))
        wrap(own, name, (self, given, method) =>
          inObject.run((self as unknown as Instance).ctx, () => method.apply(self, given)),
        )
    })
  }
}

/** An error marked as the platform marks those that may be retried. */
const lost = (): Error => Object.assign(new Error('Network connection lost.'), { retryable: true })

/** Calls an object as over a bad connection, or as if it had another version. */
async function callBadly(call: () => Promise<unknown>, method: string): Promise<unknown> {
  if (comes('objectOverloaded'))
    throw Object.assign(new Error(`Durable Object is overloaded. ${OVERLOADED}`), { overloaded: true })
  if (comes('connectionBefore')) throw lost()
  const isOther = comes('otherVersion')
  if (isOther && (current?.wait(2) ?? 1) === 1)
    throw new TypeError(`The RPC receiver does not implement the method "${method}".`)
  const answer = await call()
  if (comes('connectionAfter')) throw lost()
  return isOther && answer !== undefined ? { reply: answer } : answer
}

/** Wraps the stubs that the service gets while faults are injected. Stubs of tests are unchanged. */
function wrapStubs(): void {
  wrap(prototypeOf(env.POLICY), 'get', (self, given, own) => {
    const stub = own.apply(self, given) as Record<PropertyKey, unknown>
    if (!current) return stub
    return new Proxy(stub, {
      get(_, name) {
        const value = stub[name]
        if (typeof name !== 'string' || typeof value !== 'function' || name === 'fetch') return value
        return (...words: unknown[]) =>
          callBadly(() => (stub[name] as (...words: unknown[]) => Promise<unknown>)(...words), name)
      },
    })
  })
}

let isWrapped = false

/** Wraps the bindings of this test file, once. Without faults (`inject`) they work as before. */
export async function wrapBindings(): Promise<void> {
  if (isWrapped) return
  isWrapped = true
  wrapDatabases()
  wrapQueues()
  wrapFiles()
  await wrapObjects()
  wrapStubs()
}

let aheadMs = 0
const realNow = Date.now
atFileStart(() => {
  inject(undefined)
  takeAway(undefined)
  goAhead(0)
})

/** Sets the real time ahead by this much, for the service and for the test. */
export function goAhead(ms: number): void {
  aheadMs = ms
  Date.now = () => realNow() + aheadMs
}

/** Advances the real time by this much. */
export const elapse = (ms: number): void => goAhead(aheadMs + ms)
