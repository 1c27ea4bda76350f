import { afterEach, describe, expect, test, vi } from 'vitest'
import { ERROR_KINDS, Refusal } from '../../src/kernel/errors.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { refusalOfFault } from '../../src/platform/faults.ts'
import { callForReply, type ObjectReply, replyOf } from '../../src/platform/objects.ts'

const LOST = new Error('D1_ERROR: Network connection lost.')

afterEach(() => vi.restoreAllMocks())

describe('Platform faults', () => {
  test.each([
    ['D1_ERROR: D1 DB is overloaded. Requests queued for too long.', 503, 'overloaded'],
    ['D1_ERROR: D1 DB is overloaded. Too many requests queued.', 503, 'overloaded'],
    ['Durable Object is overloaded. Too many requests queued.', 503, 'overloaded'],
    [
      'Your account is generating too much load on Durable Objects. Please back off and try again later.',
      503,
      'overloaded',
    ],
    [
      'Your account is doing too many concurrent storage operations. Please back off and try again later.',
      503,
      'overloaded',
    ],
    ['D1_ERROR: Network connection lost.', 503, 'unavailable'],
    ['Network connection lost.', 503, 'unavailable'],
    ['D1_ERROR: D1 DB reset because its code was updated.', 503, 'unavailable'],
    ['Durable Object reset because its code was updated.', 503, 'unavailable'],
    [
      "The Durable Object's code has been updated, this version can no longer access storage.",
      503,
      'unavailable',
    ],
    [
      'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
      503,
      'unavailable',
    ],
    ['D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.', 503, 'unavailable'],
    [
      'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
      503,
      'unavailable',
    ],
    [
      'D1_ERROR: Failed to get session commit token: internal error; reference = 7jehcl3gisq0evd7',
      503,
      'unavailable',
    ],
    ['The object was moved.', 503, 'unavailable'],
    ['Cannot access storage because object has moved to a different machine', 503, 'unavailable'],
    [
      'Connection closed: this Durable Object instance is no longer active. Reconnect or retry the request.',
      503,
      'unavailable',
    ],
    ['D1_ERROR: Replica disconnected from primary.', 503, 'unavailable'],
    ["D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.", 503, 'unavailable'],
    ['D1_ERROR: D1 DB exceeded its CPU time limit and was reset.', 503, 'unavailable'],
    ["Durable Object's isolate exceeded its memory limit and was reset.", 503, 'unavailable'],
    ["D1_ERROR: Can't read from request stream because client disconnected.", 503, 'unavailable'],
    ['put: We encountered an internal error. Please try again. (10001)', 503, 'unavailable'],
    ['get: Service is temporarily unavailable. (10043)', 503, 'unavailable'],
    ['uploadPart: Unspecified error (0)', 503, 'unavailable'],
    ['put: Reduce your concurrent request rate for the same object. (10058)', 503, 'overloaded'],
    ['D1_ERROR: database is locked: SQLITE_BUSY', 503, 'unavailable'],
    ['D1_ERROR: Exceeded maximum DB size.', 507, 'databaseFull'],
    ['D1_ERROR: database or disk is full: SQLITE_FULL', 507, 'databaseFull'],
    [
      "D1_ERROR: Your account has exceeded D1's maximum account storage limit, please contact Cloudflare to raise your limit.",
      507,
      'databaseFull',
    ],
  ])("'%s' becomes %i %s, directly or as the cause of another error", (message, status, code) => {
    for (const problem of [
      new Error(message),
      new Error('Failed query: insert', { cause: new Error(message) }),
    ]) {
      const refusal = refusalOfFault(problem)!
      expect([refusal.code, ERROR_KINDS[refusal.code].status]).toEqual([code, status])
    }
  })

  test('are recognized by the properties that Durable Objects set, whatever the message', () => {
    const marked = (marks: object): unknown => Object.assign(new Error('x'), marks)
    expect(refusalOfFault(marked({ overloaded: true }))?.code).toBe('overloaded')
    expect(refusalOfFault(marked({ retryable: true, overloaded: true }))?.code).toBe('overloaded')
    expect(refusalOfFault(marked({ retryable: true }))?.code).toBe('unavailable')
  })

  test.each([
    new Error('UNIQUE constraint failed: policy.locator'),
    new TypeError("Cannot read properties of undefined (reading 'locator')"),
    new Error('D1_ERROR: no such column: x'),
    new Error('put: Your metadata headers exceed the maximum allowed metadata size. (10012)'),
    'Network connection lost.',
    undefined,
  ])('do not include %s', problem => {
    expect(refusalOfFault(problem)).toBeUndefined()
  })

  test('of the file store say that nothing was changed only when a write is known to have changed nothing', () => {
    const failed = new Error('put: We encountered an internal error. (10001)')
    const said = (calls?: Parameters<typeof refusalOfFault>[1]) => refusalOfFault(failed, calls)!.message
    expect(said({})).toContain('nothing was changed')
    for (const calls of [undefined, { hasChanged: true }, { isRead: true }])
      expect(said(calls)).not.toContain('changed')
  })

  test('are looked for without looping when an error is its own cause', () => {
    const circle = new Error('x')
    circle.cause = circle
    expect(refusalOfFault(circle)).toBeUndefined()
  })
})

describe('Calls to a Durable Object', () => {
  test('reply with 503 or 507 to a platform fault, and with 500 to an unexpected error', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const reply = (problem: unknown) => replyOf({ at: 'test' }, () => Promise.reject(problem))
    expect(await reply(LOST)).toMatchObject({ refusal: { code: 'unavailable' } })
    expect(await reply(new Error('D1_ERROR: Exceeded maximum DB size.'))).toMatchObject({
      refusal: { code: 'databaseFull' },
    })
    expect(await reply(new TypeError('x is not a function'))).toMatchObject({ refusal: { code: 'internal' } })
    expect(await reply(new Refusal('notFound', 'none'))).toMatchObject({ refusal: { code: 'notFound' } })
    expect(console.error).toHaveBeenCalledTimes(3)
  })

  /** A stub of an object whose first call fails. */
  function interrupted(problem: unknown) {
    let sent = 0
    const send = async (): Promise<ObjectReply<string>> => {
      sent += 1
      if (sent === 1) throw problem
      return { calls: noCalls(), answer: 'done' }
    }
    return { send, sent: () => sent }
  }

  test('are sent once more after an interruption if the message may be repeated, and count both times', async () => {
    const keyed = interrupted(LOST)
    const calls = noCalls()
    expect(await callForReply(calls, keyed.send, { mayRepeat: true })).toBe('done')
    expect([keyed.sent(), calls.object]).toEqual([2, 2])
    const plain = interrupted(LOST)
    await expect(callForReply(noCalls(), plain.send)).rejects.toBe(LOST)
    expect(plain.sent()).toBe(1)
  })

  test('are not repeated when the object is overloaded', async () => {
    const busy = interrupted(Object.assign(new Error('busy'), { overloaded: true, retryable: true }))
    await expect(callForReply(noCalls(), busy.send, { mayRepeat: true })).rejects.toThrow('busy')
    expect(busy.sent()).toBe(1)
  })

  test.each([
    undefined,
    null,
    'done',
    {},
    { calls: {} },
    { calls: {}, refusal: { code: 'ofTheNextRelease', message: 'x' } },
  ])('are rejected with 503 when an object of another version replies %j', async reply => {
    const send = async () => reply as unknown as ObjectReply<string>
    await expect(callForReply(noCalls(), send)).rejects.toMatchObject({ code: 'unavailable' })
  })
})
