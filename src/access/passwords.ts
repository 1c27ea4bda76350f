// Hashes passwords: scrypt of the peppered password, in the PHC text form.
import crypto from 'node:crypto'
import { Refusal } from '../kernel/errors.ts'
import { secretsIn } from '../platform/sealed.ts'
import { Seats } from '../platform/seats.ts'

/** N = 2^14, r = 8, p = 5: 16 MiB and a fifth of a second. */
const COST = { ln: 14, r: 8, p: 5 }

/** Limits of one scrypt call in production: its work N·r·p, and its memory 128·N·r. */
const MOST_WORK = 1_048_576
const MOST_MEMORY_BYTES = 32 * 1_048_576

if (2 ** COST.ln * COST.r * COST.p > MOST_WORK || 128 * 2 ** COST.ln * COST.r > MOST_MEMORY_BYTES)
  throw new Error('The cost of a password hash is higher than production can compute.')

const SALT_BYTES = 16
const HASH_BYTES = 32

/**
 * Number of hashes that one isolate runs or queues. Further requests get 429. A hash blocks everything else in the isolate, so
 * hashes run one at a time. The limit bounds the wait (1.6 s, or twice that where each request needs two), not the memory (16
 * MiB). A limit of two would reject the third of three people who sign in at the same moment.
 */
export const MOST_HASHES_IN_LINE = 8

const line = new Seats(MOST_HASHES_IN_LINE, 10_000)

/** Runs the work in the queue. Waits one tick first, so that simultaneous requests join the queue before the isolate is busy. */
async function runInLine<T>(work: () => T): Promise<T> {
  const seat = Symbol('password')
  if (!line.take(seat))
    throw new Refusal('tooManyRequests', 'Too many simultaneous sign-ins; try again in a second.', {}, 1)
  try {
    await new Promise(resolve => setTimeout(resolve, 0))
    return work()
  } finally {
    line.leave(seat)
  }
}

type Cost = typeof COST

function derive(
  password: string,
  pepper: string,
  salt: Uint8Array,
  { ln, r, p }: Cost,
  bytes: number,
): Buffer {
  const peppered = crypto.createHmac('sha256', pepper).update(password.normalize('NFKC')).digest()
  const N = 2 ** ln
  return crypto.scryptSync(peppered, salt, bytes, { N, r, p, maxmem: 256 * N * r })
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '')

/**
 * Returns `$scrypt$ln=14,r=8,p=5$<salt>$<hash>`. `pepper` is PASSWORD_PEPPER, a list separated by commas: the first pepper is for
 * new hashes, the others are those of environments that tenants were moved from. Throws 429 when the isolate is busy, so await one
 * hash before the next.
 */
export const hashPassword = (password: string, pepper: string): Promise<string> =>
  runInLine(() => {
    const salt = crypto.randomBytes(SALT_BYTES)
    const { ln, r, p } = COST
    const [first] = peppersIn(pepper)
    const hash = derive(password, first!, salt, COST, HASH_BYTES)
    return `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(hash)}`
  })

type Stored = { cost: Cost; salt: Uint8Array; hash: Uint8Array }

function readHash(text: string): Stored | undefined {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/.exec(text)
  if (!match) return undefined
  const [, ln, r, p, salt, hash] = match as unknown as [string, string, string, string, string, string]
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

/** Used instead of the hash of an unknown user: it takes the same work and never matches. */
const NOBODY: Stored = { cost: COST, salt: new Uint8Array(SALT_BYTES), hash: new Uint8Array(HASH_BYTES) }

/** Checks a password. Does the same work when `stored` is undefined. */
export type Verify = (password: string, stored: string | undefined) => boolean

const verifier =
  (pepper: string): Verify =>
  (password, stored) => {
    const known = stored === undefined ? undefined : readHash(stored)
    const { cost, salt, hash } = known ?? NOBODY
    const matchesHash = (one: string): boolean =>
      crypto.timingSafeEqual(derive(password, one, salt, cost, hash.length), hash)
    return peppersIn(pepper).some(matchesHash) && known !== undefined
  }

/**
 * Checks several passwords in one place of the queue. A request with two candidate accounts is therefore rejected before the first
 * check or not at all: a 429 in between would mean that a password was tried without counting a failure.
 */
export const withVerifier = <T>(pepper: string, work: (verify: Verify) => T): Promise<T> =>
  runInLine(() => work(verifier(pepper)))

/** Checks a password. Throws 429 like `hashPassword`. */
export const verifyPassword = (
  password: string,
  stored: string | undefined,
  pepper: string,
): Promise<boolean> => withVerifier(pepper, verify => verify(password, stored))

/** Whether the cost has changed since. The next sign-in then replaces the hash. */
export function needsRehash(stored: string): boolean {
  const known = readHash(stored)
  return !known || known.cost.ln !== COST.ln || known.cost.r !== COST.r || known.cost.p !== COST.p
}

const peppersIn = (text: string | undefined): string[] => secretsIn('PASSWORD_PEPPER', text)
