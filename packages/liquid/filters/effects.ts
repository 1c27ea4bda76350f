import type { Decimal } from '../../../src/kernel/money.ts'
import type { RenderingContext } from '../context.ts'
import type { RatingEffects } from '../effects.ts'
import { asNumber, toDecimal } from '../numbers.ts'
import { printed } from '../printing.ts'
import type { Filter, Filters } from './filter.ts'

/** A filter that records an amount. Unlike in arithmetic, nothing and text are no amounts: they fail. Prints nothing. */
const recording =
  (name: string, record: (effects: RatingEffects, amount: Decimal, args: string[]) => void): Filter =>
  (input, args, context) => {
    const number = asNumber(input)
    if (number) record(context.state.effects, toDecimal(number), args.map(printed))
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
    context.state.effects.decision = decision
  else context.reject(`'${printed(input)}' is no underwriting decision. Write accept, reject or none.`)
}

function note(input: unknown, _args: unknown[], context: RenderingContext): void {
  const text = printed(input)
  context.budget.countMemory(text.length)
  if (text.trim() !== '') context.state.effects.notes.push(text)
}

function staticDocument(input: unknown, _args: unknown[], context: RenderingContext): void {
  context.state.effects.staticDocument = printed(input).trim() || null
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
