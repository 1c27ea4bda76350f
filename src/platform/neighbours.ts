// One thread answers all requests of an isolate, in the order in which they come. So that a tenant that sends very many does not
// have all of it, only so many of its requests are under way at a time while the isolate serves other tenants too; the rest wait
// in line. Nobody waits where there is no other tenant.
import { Refusal } from '../kernel/errors.ts'
import { Memo } from '../kernel/maps.ts'
import { now } from '../kernel/time.ts'

/** Requests of one tenant under way at a time. */
export const MOST_UNDER_WAY = 4

/** A request that takes longer waits for something outside, a rater for example, and counts no more. */
export const SEAT_MS = 250

/** Whoever asked so lately is served by this isolate. */
export const NEIGHBOUR_MS = 1_000

/** Whoever would wait for longer is refused. */
const LONGEST_WAIT_MS = 2_000

/** What waits lies in memory: of one tenant no more than this. */
const MOST_IN_LINE = 200

/** The first in line looks for a seat so often, the n-th an n-th as often. Requests cannot wake each other. */
const LOOK_MS = 2

/** Who did not look when it was to, and so much later neither, was given up by its client. */
const GONE_MS = 250

type Waiting = { looksAt: number }

type Line = {
  /** Since when, by request. */
  readonly underWay: Map<symbol, number>
  readonly waiting: Waiting[]
}

const lines = new Memo<string, Line>(1_000)

/** Who asked last, and when another did last. */
let last = { tenant: '', at: Number.NEGATIVE_INFINITY }
let lastOther = last

/**
 * Takes a seat for a request of the tenant, waiting until there is one; call what it gives when the request is answered. Refuses
 * with 503 where that takes longer than two seconds.
 */
export async function takeSeat(tenantLocator: string): Promise<() => void> {
  if (last.tenant === tenantLocator) last = { tenant: tenantLocator, at: now() }
  else [lastOther, last] = [last, { tenant: tenantLocator, at: now() }]
  const line = lines.get(tenantLocator) ?? { underWay: new Map(), waiting: [] }
  lines.set(tenantLocator, line)
  if (line.waiting.length >= seatsFree(line, tenantLocator)) await standInLine(line, tenantLocator)
  const seat = Symbol('request')
  line.underWay.set(seat, now())
  return () => void line.underWay.delete(seat)
}

function seatsFree({ underWay }: Line, tenant: string): number {
  for (const [seat, since] of underWay) {
    if (now() - since < SEAT_MS) break
    underWay.delete(seat)
  }
  const isAlone = now() - (last.tenant === tenant ? lastOther : last).at > NEIGHBOUR_MS
  return isAlone ? Number.POSITIVE_INFINITY : MOST_UNDER_WAY - underWay.size
}

async function standInLine(line: Line, tenant: string): Promise<void> {
  const { waiting } = line
  leaveOutGone(waiting)
  if (waiting.length >= MOST_IN_LINE) throw tooMany()
  const until = now() + LONGEST_WAIT_MS
  const own: Waiting = { looksAt: now() }
  waiting.push(own)
  for (;;) {
    const place = waiting.indexOf(own)
    if (place < seatsFree(line, tenant) || now() >= until) {
      if (place >= 0) waiting.splice(place, 1)
      if (now() < until) return
      throw tooMany()
    }
    const pauseMs = LOOK_MS * (place + 1)
    own.looksAt = now() + pauseMs
    await new Promise(resolve => setTimeout(resolve, pauseMs))
    leaveOutGone(waiting)
    // It was late, as all are where the isolate was busy.
    if (!waiting.includes(own)) waiting.unshift(own)
  }
}

function leaveOutGone(waiting: Waiting[]): void {
  while (waiting.length > 0 && now() - waiting[0]!.looksAt > GONE_MS) waiting.shift()
}

const tooMany = (): Refusal =>
  new Refusal(
    'overloaded',
    'Too many requests of this tenant are being answered here; send it again in some seconds, and fewer at a time.',
    {},
    LONGEST_WAIT_MS / 1_000,
  )
