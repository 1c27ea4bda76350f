// Faults that are planted into a book on purpose. Each kind breaks one rule in one place and knows its correction.
import { correctionOf, type ExpectedFailure, FAULT_KINDS } from './fault-kinds.ts'
import type { Random } from './random.ts'
import type { Account, AccountData, Disbursement, Invoice, Payment, Policy } from './wire.ts'

/** The body of the PATCH that corrects a failed account, except for the account's locator. */
export type Correction = {
  readonly accountData?: AccountData
  readonly policies?: Readonly<Record<string, Policy>>
  readonly invoices?: Readonly<Record<string, Invoice>>
  readonly payments?: Readonly<Record<string, Payment>>
  readonly disbursements?: Readonly<Record<string, Disbursement>>
  /** Set if the control totals were wrong. */
  readonly accounting?: Account['accounting']
}

export type Planted = ExpectedFailure & {
  /** A copy of the given account, with the fault. */
  readonly account: Account
  readonly corrected: Correction
}

export interface Fault {
  readonly kind: string
  /** The number of the rule that it breaks (resources brief 9.3), or `the contract`. */
  readonly rule: string
  /** Undefined if the account has nothing to break. */
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
