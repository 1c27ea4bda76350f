// Distributes charges over transactions and bills, so that each transaction charges the cost of its elements and each bill has
// its original total.
import type { Bill } from './bills.ts'
import { amountText, NotExpressible } from './words.ts'

export type Wanted = {
  /** The element: `root`, or a peril's renewal group. */
  readonly id: string
  readonly kind: 'premium' | 'technicalPremium' | 'tax' | 'commission' | 'fee' | 'holdback'
  /** The name of the tax, fee or recipient. For a holdback the tax, otherwise empty. */
  readonly name: string
  /** The monthly rate. */
  readonly rate?: number
  readonly minor: number
}

export type StepPlace = { readonly termAt: number; readonly at: number }

/** A charge with its amount on each bill. */
type Charge = Omit<Wanted, 'minor'> & { readonly items: Map<number, number> }

type Step = StepPlace & {
  readonly covered: ReadonlySet<string>
  readonly wanted: Map<string, Wanted>
  readonly charges: Map<string, Charge>
  /** The numbers of its bills, in their order. */
  readonly bills: Set<number>
}

type BilledItem = StepKey & { readonly bill: number; readonly minor: number }
type StepKey = { readonly termAt: number } & Pick<Wanted, 'id' | 'kind' | 'name'>

const keyOf = ({ id, kind, name }: Pick<Wanted, 'id' | 'kind' | 'name'>): string =>
  JSON.stringify([id, kind, name])

const isPayable = ({ kind }: Pick<Wanted, 'kind'>): boolean =>
  kind !== 'commission' && kind !== 'technicalPremium'

export class Charging {
  readonly #currency: string
  readonly #bills: readonly Bill[]
  readonly #steps: Step[] = []

  constructor(currency: string, bills: readonly Bill[]) {
    this.#currency = currency
    this.#bills = bills
  }

  /** Adds the next step. Steps are added in their order. */
  add(place: StepPlace, covered: readonly string[], wanted: readonly Wanted[]): void {
    this.#steps.push({
      ...place,
      covered: new Set(covered),
      wanted: new Map(),
      charges: new Map(),
      bills: new Set(),
    })
    for (const one of wanted) this.want(place, one)
  }

  want(place: StepPlace, one: Wanted): void {
    const { wanted } = this.#step(place)
    const key = keyOf(one)
    wanted.set(key, { ...one, minor: one.minor + (wanted.get(key)?.minor ?? 0) })
  }

  #step({ termAt, at }: StepPlace): Step {
    return this.#steps.find(step => step.termAt === termAt && step.at === at)!
  }

  /** Throws `NotExpressible` if the bills do not total the charges. */
  allocate(items: readonly BilledItem[]): void {
    const billed = Map.groupBy(items, one => `${one.termAt} ${keyOf(one)}`)
    const left = this.#bills.map(({ minor }) => minor)
    for (const termAt of new Set(this.#steps.map(one => one.termAt))) {
      const steps = this.#steps.filter(one => one.termAt === termAt)
      for (const key of new Set(steps.flatMap(one => [...one.wanted.keys()])))
        this.#allocateKey(steps, key, billed.get(`${termAt} ${key}`) ?? [], left)
    }
    this.#allocateRest(left)
    this.#nameAllBills()
    for (const step of this.#steps) this.#allocateUnpaid(step)
  }

  /**
   * The first step with the charge gets the amounts on the bills, minus the charges of the later steps, which go on the first of
   * these bills.
   */
  #allocateKey(steps: readonly Step[], key: string, items: readonly BilledItem[], left: number[]): void {
    const own = steps.filter(one => one.wanted.has(key))
    const [first, ...others] = own
    if (!isPayable(first!.wanted.get(key)!)) return
    const byBill = new Map<number, number>()
    for (const { bill, minor } of items) byBill.set(bill, (byBill.get(bill) ?? 0) + minor)
    const total = own.reduce((sum, one) => sum + one.wanted.get(key)!.minor, 0)
    const bill =
      [...byBill].find(([, minor]) => minor !== 0)?.[0] ??
      (total === 0 && others.every(one => one.wanted.get(key)!.minor === 0) ? undefined : 0)
    if (bill !== undefined && !this.#bills[bill]) throw new NotExpressible('a charge without any bill')
    for (const step of others) {
      const { minor } = step.wanted.get(key)!
      if (bill === undefined || minor === 0) continue
      this.#put(step, step.wanted.get(key)!, bill, minor)
      byBill.set(bill, (byBill.get(bill) ?? 0) - minor)
    }
    if (bill !== undefined) {
      const sum = [...byBill.values()].reduce((all, minor) => all + minor, 0)
      // An amount that is missing on the bills goes on the first one as well. `#allocateRest` subtracts it again as a separate
      // charge.
      byBill.set(bill, (byBill.get(bill) ?? 0) + first!.wanted.get(key)!.minor - sum)
    }
    for (const [at, minor] of byBill) this.#put(first!, first!.wanted.get(key)!, at, minor)
    for (const step of own) for (const [at, minor] of step.charges.get(key)?.items ?? []) left[at]! -= minor
  }

  #put(step: Step, { minor: _, ...one }: Wanted, bill: number, minor: number): void {
    if (minor === 0) return
    const key = keyOf(one)
    const charge = step.charges.get(key) ?? { ...one, items: new Map<number, number>() }
    step.charges.set(key, charge)
    charge.items.set(bill, (charge.items.get(bill) ?? 0) + minor)
    step.bills.add(bill)
  }

  /** Balances amounts on bills of charges that are no longer in force or are shared out differently. Their sum must be zero. */
  #allocateRest(left: readonly number[]): void {
    const rest = left.reduce((sum, minor) => sum + minor, 0)
    if (rest !== 0)
      throw new NotExpressible(
        `bills that total ${amountText(rest, this.#currency)} ${this.#currency} more than the charges`,
      )
    const [first] = this.#steps
    for (const [bill, minor] of left.entries())
      if (minor !== 0) this.#put(first!, { id: 'root', kind: 'fee', name: BALANCE, minor }, bill, minor)
  }

  /** An invoice that no transaction names would not be carried over. */
  #nameAllBills(): void {
    const named = new Set(this.#steps.flatMap(step => [...step.bills]))
    for (const bill of this.#bills.keys()) if (!named.has(bill)) this.#steps[0]!.bills.add(bill)
  }

  /** Puts amounts that nobody pays on the step's first bill, or else on the policy's first bill. */
  #allocateUnpaid(step: Step): void {
    const unpaid = [...step.wanted.values()].filter(one => !isPayable(one) && one.minor !== 0)
    if (unpaid.length === 0 || this.#bills.length === 0) return
    const [bill = 0] = step.bills
    for (const one of unpaid) this.#put(step, one, bill, one.minor)
  }

  /** Returns the charges of an element. Includes zero amounts, except of fees and holdbacks, so that names and rates are kept. */
  of(place: StepPlace, id: string): object[] {
    const { wanted, charges, bills } = this.#step(place)
    const numbers = new Map([...bills].map((bill, at) => [bill, at + 1]))
    const keys = new Set([...wanted.keys(), ...charges.keys()])
    return [...keys].flatMap(key => {
      const { items = new Map<number, number>(), ...one } = charges.get(key) ?? {
        ...wanted.get(key)!,
        items: undefined,
      }
      if (one.id !== id) return []
      if (items.size === 0 && (one.kind === 'holdback' || one.kind === 'fee')) return []
      return [
        {
          chargeType: one.kind,
          ...(one.name !== '' && { tag: one.name }),
          ...(one.rate !== undefined && { rate: one.rate }),
          installmentItems: [...items].map(([bill, minor]) => ({
            amount: amountText(minor, this.#currency),
            installmentNumber: numbers.get(bill),
          })),
        },
      ]
    })
  }

  installments(place: StepPlace): object[] {
    return [...this.#step(place).bills].map((at, index) => {
      const { invoiceId, times } = this.#bills[at]!
      return {
        id: `${place.termAt}-${place.at}-${index}`,
        ...times,
        ...(invoiceId !== undefined && { invoiceId }),
      }
    })
  }
}

/** The name of the fee that balances bills. Other bills have it with the opposite sign. */
const BALANCE = 'balance'
