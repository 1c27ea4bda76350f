// What templates record beside their output: premiums, taxes, fees and decisions (brief 5.4).
import type { RenderingContext } from '../../../packages/liquid/context.ts'
import type { Filter, Filters } from '../../../packages/liquid/evaluation.ts'
import { asNumber, printed, toDecimal } from '../../../packages/liquid/values.ts'
import type { Decimal } from '../../kernel/money.ts'

/**
 * A premium as a template recorded it, in major units. Each kind holds what its last call gave; `exact` is for the
 * segment and not scaled by its months. `last` is the kind set last: yearly and monthly exclude each other, exact
 * and yearly may stand together (brief 3.1). `added` is what `add_premium` added up, for the segment and not scaled
 * either (brief 5.4); what a rendering gives has it only beside a rate, to be added to what the rate comes to.
 */
export type RecordedPremium = {
  yearly?: Decimal
  monthly?: Decimal
  exact?: Decimal
  added?: Decimal
  last?: 'yearly' | 'monthly' | 'exact'
}

/** What the filters with effects recorded, in the order of their calls. Amounts are exact decimals in major units. */
export type RatingEffects = {
  premium: RecordedPremium
  technicalPremium: RecordedPremium
  /** One line for each call; exactly one of the amounts is set. */
  commissions: { recipient: string; yearly?: Decimal; monthly?: Decimal; exact?: Decimal }[]
  /** `set_peril_tax` replaces it, `add_tax` adds to it. */
  tax?: { amount: Decimal; description?: string }
  fees: { name: string; amount: Decimal; description?: string }[]
  /** The last call wins; undefined when there was none. */
  decision?: 'accept' | 'reject' | 'none'
  notes: string[]
  /** The static document to use in place of what is rendered; null: no document is to be made. */
  staticDocument?: string | null
}

/** The effects with what was added taken into the exact premium, where one was set or nothing else was. */
export function settledEffects(effects: RatingEffects): RatingEffects {
  const { added, ...set } = effects.premium
  const isBesideRate = set.exact === undefined && (set.yearly ?? set.monthly) !== undefined
  if (added === undefined || isBesideRate) return effects
  return { ...effects, premium: { ...set, exact: set.exact?.plus(added) ?? added } }
}

export function noEffects(): RatingEffects {
  return { premium: {}, technicalPremium: {}, commissions: [], fees: [], notes: [] }
}

const effectsOf = (context: RenderingContext): RatingEffects => context.state.effects as RatingEffects

/** A filter that records an amount. Unlike in arithmetic, nothing and text are no amounts: they fail. Prints nothing. */
const recording =
  (name: string, record: (effects: RatingEffects, amount: Decimal, args: string[]) => void): Filter =>
  (input, args, context) => {
    const number = asNumber(input)
    if (number) record(effectsOf(context), toDecimal(number), args.map(printed))
    else
      context.reject(
        `${name} needs a number, not ${input === undefined || input === null ? 'nothing' : `'${printed(input)}'`}.`,
      )
  }

type PremiumKind = 'yearly' | 'monthly' | 'exact'

function premium(name: string, of: 'premium' | 'technicalPremium', kind: PremiumKind): Filters {
  return {
    [name]: recording(name, (effects, amount) => {
      effects[of] = { ...effects[of], [kind]: amount, last: kind }
    }),
  }
}

function commission(name: string, kind: PremiumKind): Filters {
  const record = recording(name, (effects, amount, [recipient]) => {
    effects.commissions.push({ recipient: recipient!, [kind]: amount })
  })
  return { [name]: named(name, 'recipient', record) }
}

/** The first argument must be there: a recipient, the name of a fee. */
const named =
  (name: string, what: string, record: Filter): Filter =>
  (input, args, context) =>
    printed(args[0]).trim() === '' ? context.reject(`${name} needs a ${what}.`) : record(input, args, context)

const described = (description: string | undefined) => (description ? { description } : {})

const decide: Filter = (input, _args, context) => {
  const decision = printed(input).trim().toLowerCase()
  if (decision === 'accept' || decision === 'reject' || decision === 'none')
    effectsOf(context).decision = decision
  else context.reject(`'${printed(input)}' is no underwriting decision. Write accept, reject or none.`)
}

function note(input: unknown, _args: unknown[], context: RenderingContext): void {
  const text = printed(input)
  context.budget.countMemory(text.length)
  if (text.trim() !== '') effectsOf(context).notes.push(text)
}

function staticDocument(input: unknown, _args: unknown[], context: RenderingContext): void {
  effectsOf(context).staticDocument = printed(input).trim() || null
}

/** Filters that record (brief 5.4). They print nothing and give nothing on. */
export const effectFilters: Filters = {
  ...premium('set_year_premium', 'premium', 'yearly'),
  ...premium('set_month_premium', 'premium', 'monthly'),
  ...premium('set_peril_premium', 'premium', 'exact'),
  ...premium('set_year_technical_premium', 'technicalPremium', 'yearly'),
  ...premium('set_month_technical_premium', 'technicalPremium', 'monthly'),
  ...premium('set_peril_technical_premium', 'technicalPremium', 'exact'),
  add_premium: recording('add_premium', (effects, amount) => {
    const { added } = effects.premium
    effects.premium = { ...effects.premium, added: added?.plus(amount) ?? amount }
  }),
  ...commission('add_year_commission', 'yearly'),
  ...commission('add_month_commission', 'monthly'),
  ...commission('add_commission', 'exact'),
  set_peril_tax: recording('set_peril_tax', (effects, amount, [description]) => {
    effects.tax = { amount, ...described(description) }
  }),
  add_tax: recording('add_tax', (effects, amount, [description]) => {
    effects.tax = {
      ...effects.tax,
      amount: effects.tax?.amount.plus(amount) ?? amount,
      ...described(description),
    }
  }),
  add_fee: named(
    'add_fee',
    'fee name',
    recording('add_fee', (effects, amount, [name, description]) => {
      effects.fees.push({ name: name!, amount, ...described(description) })
    }),
  ),
  set_underwriting_decision: decide,
  add_underwriting_note: note,
  render_static_document: staticDocument,
}
