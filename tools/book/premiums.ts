// The prices of the elements of a term, and the charges of a change: the difference that it makes over time.
import Big from 'big.js'
import { type Instant, months } from '../../src/kernel/time.ts'
import { ZONE } from './calendar.ts'
import type { RatedPeril } from './risk.ts'

/** In cents. */
export type Costs = { premium: number; tax: number; levy: number; commission: number; onceOnly: number }

const KINDS = ['premium', 'tax', 'levy', 'commission', 'onceOnly'] as const

type Piece = { readonly from: Instant; readonly to: Instant; readonly costs: Costs }

type Known = { readonly fingerprint: string; readonly pieces: readonly Piece[]; readonly recipient?: string }

export type Difference = { readonly costs: Costs; readonly recipient?: string }

const none = (): Costs => ({ premium: 0, tax: 0, levy: 0, commission: 0, onceOnly: 0 })

const toCents = (amount: Big): number => Number(amount.times(100).round(0, Big.roundHalfUp))

const share = (cents: number, part: Big, whole: Big): number =>
  whole.eq(0) ? 0 : Number(new Big(cents).times(part).div(whole).round(0, Big.roundHalfUp))

/** Returns the costs of the peril over the span. */
function costsOf({ price, levied }: RatedPeril, from: Instant, to: Instant): Costs {
  const span = months(from, to, ZONE)
  const premium = toCents(price.year.div(12).times(span))
  const { year, once } = price.commission ?? {}
  return {
    premium,
    tax: Number(new Big(premium).times('0.19').round(0, Big.roundHalfUp)),
    levy: levied ? Number(new Big(premium).times('0.02').round(0, Big.roundHalfUp)) : 0,
    commission: year ? toCents(year.div(12).times(span)) : 0,
    onceOnly: once ? toCents(once) : 0,
  }
}

/** Cuts the pieces at the time. Returns those that stay, and the costs of the time after. */
function cut(pieces: readonly Piece[], at: Instant): { kept: Piece[]; gone: Costs } {
  const kept: Piece[] = []
  const gone = none()
  for (const piece of pieces) {
    if (piece.to <= at) {
      kept.push(piece)
      continue
    }
    const whole = months(piece.from, piece.to, ZONE)
    const part = piece.from < at ? months(piece.from, at, ZONE) : new Big(0)
    const left = none()
    for (const kind of KINDS) {
      // Commission earned once at the sale stays earned once its cover has begun.
      const stays =
        kind === 'onceOnly' && piece.from < at ? piece.costs[kind] : share(piece.costs[kind], part, whole)
      left[kind] = stays
      gone[kind] += piece.costs[kind] - stays
    }
    if (piece.from < at) kept.push({ from: piece.from, to: at, costs: left })
  }
  return { kept, gone }
}

/** The perils of one term and their costs. */
export class TermPremiums {
  readonly #end: Instant
  readonly #known = new Map<string, Known>()

  constructor(end: Instant) {
    this.#end = end
  }

  /** Covers the perils from the time on. Returns the charges of each peril, undefined if it continues unchanged. */
  cover(perils: readonly RatedPeril[], at: Instant): Map<string, Difference | undefined> {
    return new Map(perils.map(peril => [peril.id, this.#change(peril, at)]))
  }

  #change(peril: RatedPeril, at: Instant): Difference | undefined {
    const fingerprint = JSON.stringify([peril.terms, peril.data, peril.price, peril.levied])
    const known = this.#known.get(peril.id)
    const last = known?.pieces.at(-1)
    if (known?.fingerprint === fingerprint && last!.from <= at && last!.to === this.#end) return undefined
    const { kept, gone } = cut(known?.pieces ?? [], at)
    const costs = costsOf(peril, at, this.#end)
    if (known) costs.onceOnly = 0
    const recipient = peril.price.commission?.recipient ?? known?.recipient
    this.#known.set(peril.id, {
      fingerprint,
      recipient,
      pieces: [...kept, { from: at, to: this.#end, costs }],
    })
    const difference = none()
    for (const kind of KINDS) difference[kind] = costs[kind] - gone[kind]
    return { costs: difference, recipient }
  }

  /** Ends all cover at the time. Returns the refund of each peril. */
  end(at: Instant): Map<string, Difference> {
    const back = new Map<string, Difference>()
    for (const [id, known] of this.#known) {
      const { kept, gone } = cut(known.pieces, at)
      this.#known.set(id, { ...known, pieces: kept })
      for (const kind of KINDS) gone[kind] = -gone[kind] || 0
      back.set(id, { costs: gone, recipient: known.recipient })
    }
    return back
  }
}
