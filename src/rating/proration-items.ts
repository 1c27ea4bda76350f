// What a plugin is asked of: each amount of what a transaction splits, as an item (brief 5.6).
import type { ProrationItem } from '../extension/plugins/contract.ts'
import { shardOfDigits } from '../kernel/locators.ts'
import { type Money, sum, toText } from '../kernel/money.ts'
import type { Same } from '../policy/fold/shares.ts'
import type { Followed, SplitOfFee, SplitOfRun, Splits } from '../policy/fold/splits.ts'
import { perilSegmentLocator } from '../policy/projection/policy.ts'
import type { Amounts, Holdback, PolicyAggregate } from '../policy/records/aggregate.ts'

/** One amount of a split. */
export type Item = {
  readonly names: Pick<ProrationItem, 'type' | 'taxName' | 'commissionRecipient'>
  readonly split: SplitOfRun | SplitOfFee
  readonly amount: Money
  /** The same of what comes after it and changes with it. */
  readonly following: Money
  /** What is held back of it; undefined of a technical premium, which nobody pays or is given back. */
  readonly holding: ((amount: Money) => Holdback) | undefined
}

/** The amounts of the splits; those of nothing are left out, since nothing lies on either side. */
export const itemsOf = ({ runs, fees }: Splits): Item[] =>
  [...runs.flatMap(itemsOfRun), ...fees.map(itemOfFee)].filter(one => one.amount.minor !== 0)

/** In the order in which `each` goes over the amounts. */
function itemsOfRun(split: SplitOfRun): Item[] {
  const { amounts, run, following } = split
  const { locator: perilRunLocator, price } = run
  const item = (
    names: Item['names'],
    same: Same,
    later: (followed: Followed) => Money | undefined,
    holding: Item['holding'],
  ): Item => {
    const amount = same(amounts)
    const more = following.flatMap(one => later(one) ?? [])
    return { names, split, amount, following: sum(more, amount.currency), holding }
  }
  const premium = item(
    { type: 'premium' },
    of => of.premium,
    one => one.amounts.premium,
    amount => ({ type: 'premium', perilRunLocator, amount }),
  )
  const technical = () =>
    item(
      { type: 'technicalPremium' },
      of => of.technicalPremium!,
      one => one.amounts.technicalPremium,
      undefined,
    )
  const taxes = price!.taxes.map(({ name: taxName }, at) =>
    item(
      { type: 'tax', taxName },
      of => of.taxes[at]!,
      one => amountOf(one.amounts.taxes, taxNames(one), taxName),
      amount => ({ type: 'tax', perilRunLocator, taxName, amount }),
    ),
  )
  const commissions = price!.commissions.map(({ recipient }, position) => {
    const place = recipients({ run, amounts })
      .slice(0, position)
      .filter(one => one === recipient).length
    return item(
      { type: 'commission', commissionRecipient: recipient },
      of => of.commissions[position]!,
      one => amountOf(one.amounts.commissions, recipients(one), recipient, place),
      amount => ({ type: 'commission', perilRunLocator, position, amount }),
    )
  })
  return [premium, ...(amounts.technicalPremium ? [technical()] : []), ...taxes, ...commissions]
}

const taxNames = ({ run }: Followed): string[] => run.price!.taxes.map(one => one.name)

const recipients = ({ run }: Followed): string[] => run.price!.commissions.map(one => one.recipient)

/** The amount of that name in another price; of several of one name, that in the same place. */
function amountOf(
  amounts: Amounts['taxes'],
  names: readonly string[],
  name: string,
  place = 0,
): Money | undefined {
  const at = [...names.keys()].filter(one => names[one] === name)[place]
  return at === undefined ? undefined : amounts[at]
}

const itemOfFee = (split: SplitOfFee): Item => ({
  names: { type: 'fee' },
  split,
  amount: split.amount,
  following: split.following,
  holding: amount => ({ type: 'fee', feeLocator: split.fee.locator, amount }),
})

/** The item as the plugin gets it. */
export const asWire = (
  { names, split, amount, following }: Item,
  id: string,
  { policy, perils }: PolicyAggregate,
): ProrationItem => ({
  id,
  ...names,
  amount: toText(amount),
  followingAmount: toText(following),
  segmentStartTimestamp: String(split.start),
  segmentEndTimestamp: String(split.end),
  ...('fee' in split
    ? { feeLocator: split.fee.locator, feeName: split.fee.name }
    : {
        perilCharacteristicsLocator: perilSegmentLocator(
          split.run.locator,
          { locator: split.segment },
          shardOfDigits(policy.locator),
        ),
        perilName: perils.get(split.run.perilLocator)!.name,
      }),
})

/** The item as a refusal names it. */
export function named({ names, split, amount }: Item, id: string, { perils }: PolicyAggregate): string {
  const { type, taxName, commissionRecipient } = names
  const what = [type, taxName, commissionRecipient].filter(text => text !== undefined).join(' ')
  const of = 'fee' in split ? split.fee.name : perils.get(split.run.perilLocator)!.name
  return `item '${id}' (${what} of '${of}', ${toText(amount)})`
}
