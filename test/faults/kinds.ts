// The kinds of faults, and how often they occur.
import type { Random } from '../../tools/book/random.ts'

/** Each kind of fault, in the words of the fault table. */
export const FAULTS = {
  batchBefore: 'D1 batch fails before it is carried out',
  batchAfter: 'D1 batch fails after it is carried out',
  objectBefore: 'Durable Object ended before a batch of its own is carried out',
  objectAfter: 'Durable Object ended after a batch of its own is carried out',
  databaseOverloaded: 'D1 overloaded',
  objectUpdated: 'Durable Object reset by an update of its code',
  objectOverloaded: 'Durable Object overloaded',
  connectionBefore: 'connection to a Durable Object lost before it is called',
  connectionAfter: 'connection to a Durable Object lost after it has done what was asked',
  otherVersion: 'Durable Object of another version: it lacks the method, or answers in another form',
  storageLost: 'storage of a Durable Object lost, with its alarm',
  objectsReset: 'all Durable Objects ended at once',
  processKilled: 'process killed with SIGKILL and started again',
  requestLost: 'request lost on its way',
  answerLost: 'answer lost on its way',
  requestTwice: 'request sent twice at once',
  messageDropped: 'queue message dropped',
  messageRepeated: 'queue message repeated',
  messageLate: 'queue message late, behind later ones',
  messageRefused: 'queue refuses a message',
  fileReadFails: 'R2 read fails',
  fileWriteBefore: 'R2 write fails before it is carried out',
  fileWriteAfter: 'R2 write fails after it is carried out',
  raterSlow: 'rater slow',
  raterFails: 'rater fails',
  webhookSlow: 'webhook slow',
  webhookFails: 'webhook fails',
  clockMoved: "tenant's clock moved",
  deployed: 'configuration deployed again while policies are written',
  suspended: 'tenant suspended and resumed while policies are written',
  controlAway: 'control database away while policies are written',
  databasesAway: "all of the tenant's databases away while policies are written",
  databaseFull: "the tenant's databases full while policies are written",
  shardsAdded: 'databases added to the tenant while policies are written',
} as const

export type FaultKind = keyof typeof FAULTS

export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[]

/** Faults in a hundred opportunities. Kinds without a chance are injected by the run itself. */
export const CHANCES: Partial<Record<FaultKind, number>> = {
  batchBefore: 4,
  batchAfter: 6,
  objectBefore: 2,
  objectAfter: 4,
  databaseOverloaded: 2,
  objectUpdated: 2,
  objectOverloaded: 2,
  connectionBefore: 3,
  connectionAfter: 4,
  otherVersion: 2,
  storageLost: 1,
  requestLost: 2,
  answerLost: 4,
  requestTwice: 5,
  messageDropped: 15,
  messageRepeated: 15,
  messageLate: 20,
  messageRefused: 5,
  fileReadFails: 15,
  fileWriteBefore: 10,
  fileWriteAfter: 10,
  raterSlow: 25,
  raterFails: 15,
  webhookSlow: 10,
  webhookFails: 12,
}

/** Decides when a fault is due, counts those that were, and injects none once it is over. */
export class Faults {
  readonly counts: Record<FaultKind, number>
  readonly #random: Random
  readonly #kinds: ReadonlySet<FaultKind>
  #isOver = false

  constructor(random: Random, kinds: Iterable<FaultKind> = FAULT_KINDS) {
    this.#random = random
    this.#kinds = new Set(kinds)
    this.counts = Object.fromEntries(FAULT_KINDS.map(kind => [kind, 0])) as Record<FaultKind, number>
  }

  /** Whether a fault of the kind occurs now. Counts it. */
  comes(kind: FaultKind): boolean {
    const comes = this.draws(kind)
    if (comes) this.note(kind)
    return comes
  }

  /** Like `comes`, but without counting, for a fault that may be injected later. */
  draws(kind: FaultKind): boolean {
    return this.has(kind) && this.#random.chance((CHANCES[kind] ?? 0) / 100)
  }

  /** Whether faults of the kind are enabled. The code that injects one counts it with `note`. */
  has(kind: FaultKind): boolean {
    return !this.#isOver && this.#kinds.has(kind)
  }

  note(kind: FaultKind): void {
    this.counts[kind] += 1
  }

  /** The duration of a wait, in milliseconds. */
  wait(most: number): number {
    return this.#random.between(1, most)
  }

  end(): void {
    this.#isOver = true
  }
}
