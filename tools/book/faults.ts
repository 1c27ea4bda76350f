// What can be wrong with a book, planted on purpose: each kind breaks one rule at one place, and knows how to mend it.
import { correctionOf, FAULT_KINDS, type Told } from './fault-kinds.ts'
import type { Random } from './random.ts'
import type { Account, AccountData, Disbursement, Invoice, Payment, Policy } from './wire.ts'

/** What puts a failed account right: the body of its PATCH, the locator of the account aside. */
export type Correction = {
  readonly accountData?: AccountData
  readonly policies?: Readonly<Record<string, Policy>>
  readonly invoices?: Readonly<Record<string, Invoice>>
  readonly payments?: Readonly<Record<string, Payment>>
  readonly disbursements?: Readonly<Record<string, Disbursement>>
  /** Where the control totals were what was wrong. */
  readonly accounting?: Account['accounting']
}

export type Planted = Told & {
  /** With the fault; the account that was given is as it was. */
  readonly account: Account
  readonly corrected: Correction
}

export interface Fault {
  readonly kind: string
  /** The number of the rule that it breaks (resources brief 9.3), or `the contract`. */
  readonly rule: string
  /** Undefined where the account has nothing to break. */
  plant(account: Account, random: Random): Planted | undefined
}

export const FAULTS: readonly Fault[] = FAULT_KINDS.map(({ kind, rule, plant }) => ({
  kind,
  rule: rule === 'shape' ? 'the contract' : String(rule),
  plant(account) {
    const faulty: Account = structuredClone(account)
    const told = plant(faulty)
    return told && { account: faulty, ...told, corrected: correctionOf(account, faulty) }
  },
}))
