// Faults that occur in books of other systems. Each spoils one thing of an account, and states where it must be reported and
// which of the twelve rules of resources brief 9.3 it breaks. `shape` means the contract itself.
//
// They only need a policy whose first transaction has a root, an exposure with data, a coverage with a charge, and an
// installment. An account without the thing that a fault spoils is skipped.

// biome-ignore lint/suspicious/noExplicitAny: accounts of other systems, which are spoiled in any way
export type Wire = any

export type ItemList = 'policies' | 'invoices' | 'payments' | 'disbursements'

/** What `…/failures/list` must report about a fault. */
export type ExpectedFailure = {
  readonly item: 'account' | ItemList
  readonly originalId: string
  readonly elementType: string
  /** The path of original ids. */
  readonly path: string
  /** What a message there must contain: the field and its rule. */
  readonly says: string
  /** The consequences for other items, in addition to being blocked. */
  readonly besides?: string
}

export type FaultKind = {
  readonly kind: string
  readonly rule: number | 'shape'
  /** Spoils the account, which the caller has copied. Undefined if it has nothing to spoil. */
  readonly plant: (account: Wire) => ExpectedFailure | undefined
}

const DAY_MS = 86_400_000
const ms = (time: unknown): number => new Date(time as string | number).getTime()
const later = (time: unknown, days: number): string => new Date(ms(time) + days * DAY_MS).toISOString()

type At = { policy: Wire; term: Wire; transaction: Wire; path: string }

/** Returns the place of the first transaction of the account's first policy. */
function firstTransactionOf(account: Wire): At | undefined {
  const policy = account.policies?.[0]
  const term = policy?.terms?.[0]
  const transaction = term?.transactions?.[0]
  if (!transaction) return undefined
  return { policy, term, transaction, path: `${policy.id}/terms[0]/transactions[0]` }
}

const ofPolicy = (policy: Wire, elementType: string, path: string, says: string): ExpectedFailure => ({
  item: 'policies',
  originalId: policy.id,
  elementType,
  path,
  says,
})

const ofItem = (item: ItemList, { id }: Wire, says: string): ExpectedFailure => ({
  item,
  originalId: id,
  elementType: SINGULAR[item],
  path: id,
  says,
})

const SINGULAR = {
  policies: 'policy',
  invoices: 'invoice',
  payments: 'payment',
  disbursements: 'disbursement',
} as const

/** A fault of the first policy itself. */
const policyFault =
  (says: string, spoil: (policy: Wire) => void): FaultKind['plant'] =>
  account => {
    const place = firstTransactionOf(account)
    if (!place) return undefined
    spoil(place.policy)
    return ofPolicy(place.policy, 'policy', place.policy.id, says)
  }

/** A fault of its first transaction. */
const transactionFault =
  (says: string, spoil: (transaction: Wire, term: Wire) => void): FaultKind['plant'] =>
  account => {
    const place = firstTransactionOf(account)
    if (!place) return undefined
    spoil(place.transaction, place.term)
    return ofPolicy(place.policy, 'transaction', place.path, says)
  }

/** A fault of an element of the first transaction: the root, its first exposure, or the first coverage of that exposure. */
const elementFault =
  (
    level: 'root' | 'exposure' | 'coverage',
    says: string,
    spoil: (element: Wire) => void,
  ): FaultKind['plant'] =>
  account => {
    const place = firstTransactionOf(account)
    const root = place?.transaction.segment?.rootElement
    const exposure = root?.elements?.[0]
    const element = { root, exposure, coverage: exposure?.elements?.[0] }[level]
    if (!place || !element) return undefined
    spoil(element)
    return ofPolicy(place.policy, 'element', `${place.path}/${element.id}`, says)
  }

/** A fault of the first charge of the first coverage. */
const chargeFault =
  (says: string, spoil: (charge: Wire, transaction: Wire) => void): FaultKind['plant'] =>
  account => {
    const place = firstTransactionOf(account)
    const coverage = place?.transaction.segment?.rootElement?.elements?.[0]?.elements?.[0]
    const charge = coverage?.charges?.[0]
    if (!place || !charge?.installmentItems?.[0]) return undefined
    spoil(charge, place.transaction)
    return ofPolicy(place.policy, 'charge', `${place.path}/${coverage.id}/charges[0]`, says)
  }

/** Returns the most credit that the account can have. Credit could settle an invoice that its payments do not cover. */
function mostCredit(part: Wire): number {
  if (typeof part !== 'object' || part === null) return 0
  const { amount, installmentNumber, invoiceId } = part
  const isCredit = amount > 0 && installmentNumber === undefined && invoiceId === undefined
  const own = isCredit || amount < 0 ? Math.abs(amount) : 0
  return Object.values(part).reduce((sum: number, inner) => sum + mostCredit(inner), own)
}

/** Returns an invoice with a payment item above all possible credit, so that credit cannot hide faults between the two. */
function findPaidInvoice(account: Wire): { invoice: Wire; item: Wire; payment: Wire } | undefined {
  const credit = mostCredit(account)
  for (const payment of account.payments ?? [])
    for (const item of payment.paymentItems ?? []) {
      const invoice = account.invoices?.find((one: Wire) => one.id === item.invoiceId)
      if (invoice && item.amount > credit + 0.01) return { invoice, item, payment }
    }
  return undefined
}

const invoiceFault =
  (says: string, spoil: (invoice: Wire, item: Wire) => void): FaultKind['plant'] =>
  account => {
    const found = findPaidInvoice(account)
    if (!found) return undefined
    spoil(found.invoice, found.item)
    return ofItem('invoices', found.invoice, says)
  }

export const FAULT_KINDS: readonly FaultKind[] = [
  {
    kind: 'a duplicate policy',
    rule: 1,
    plant: account => {
      const [policy] = account.policies ?? []
      if (!policy) return undefined
      account.policies.push(structuredClone(policy))
      return ofItem('policies', policy, "'id' must be unique")
    },
  },
  {
    kind: 'a product that is not configured',
    rule: 2,
    plant: policyFault("productName 'unheard_of' must be a product", policy => {
      policy.productName = 'unheard_of'
    }),
  },
  {
    kind: 'a root of another type',
    rule: 2,
    plant: elementFault('root', "elementType 'unheard_of' must be", root => {
      root.elementType = 'unheard_of'
    }),
  },
  {
    kind: 'an unknown exposure',
    rule: 2,
    plant: elementFault('exposure', "elementType 'hovercraft' must be an exposure", exposure => {
      exposure.elementType = 'hovercraft'
    }),
  },
  {
    kind: 'an unknown peril',
    rule: 2,
    plant: elementFault('coverage', "elementType 'meteorites' must be a peril", coverage => {
      coverage.elementType = 'meteorites'
    }),
  },
  {
    kind: 'an unknown field',
    rule: 2,
    plant: elementFault('exposure', "Field 'odd_one' is not known", exposure => {
      exposure.data = { ...exposure.data, odd_one: 'x' }
    }),
  },
  {
    kind: 'a missing field',
    rule: 2,
    plant: elementFault('exposure', 'is required', exposure => {
      exposure.data = {}
    }),
  },
  {
    kind: 'a value that is not a number',
    rule: 2,
    plant: elementFault('exposure', 'must be a number', exposure => {
      const name = Object.keys(exposure.data).find(key => /^\d+(\.\d+)?$/.test(String(exposure.data[key])))
      if (name) exposure.data[name] = 'plenty'
    }),
  },
  {
    kind: 'a term that ends before it starts',
    rule: 3,
    plant: account => {
      const place = firstTransactionOf(account)
      if (!place) return undefined
      place.term.endTime = later(place.term.startTime, -1)
      return ofPolicy(place.policy, 'term', `${place.policy.id}/terms[0]`, 'startTime must be before endTime')
    },
  },
  {
    kind: 'terms that overlap',
    rule: 3,
    plant: account => {
      const place = firstTransactionOf(account)
      if (!place) return undefined
      const { policy, term } = place
      policy.terms.splice(1, 0, structuredClone(term))
      const says = 'startTime must not be before the endTime of the previous term'
      return ofPolicy(policy, 'term', `${policy.id}/terms[1]`, says)
    },
  },
  {
    kind: 'a change issued before the transaction that it changes',
    rule: 3,
    plant: account => {
      const place = firstTransactionOf(account)
      if (!place) return undefined
      const { policy, term, transaction } = place
      const early = later(transaction.issuedTime, -3)
      term.transactions.splice(1, 0, { transactionType: 'aggregate', issuedTime: early })
      const says = 'issuedTime must not be earlier than that of the previous transaction'
      return ofPolicy(policy, 'transaction', `${policy.id}/terms[0]/transactions[1]`, says)
    },
  },
  {
    kind: 'a reinstatement that leaves a gap',
    rule: 4,
    plant: account => {
      const place = firstTransactionOf(account)
      if (!place) return undefined
      const { policy, term, transaction } = place
      term.transactions.splice(1, 0, {
        transactionType: 'reinstatement',
        issuedTime: transaction.issuedTime,
        segment: { segmentType: 'gap', startTime: later(term.startTime, 1) },
      })
      const says = 'segment.segmentType must be coverage, because a reinstatement ends a gap'
      return ofPolicy(policy, 'transaction', `${policy.id}/terms[0]/transactions[1]`, says)
    },
  },
  {
    kind: 'a policy that does not begin with an issuance',
    rule: 4,
    plant: transactionFault('transactionType must be issuance', transaction => {
      transaction.transactionType = 'change'
    }),
  },
  {
    kind: 'a hole at the start of a term',
    rule: 5,
    plant: transactionFault('segment.startTime must be the startTime of the term', (transaction, term) => {
      transaction.segment.startTime = later(term.startTime, 1)
    }),
  },
  {
    kind: 'an unknown charge',
    rule: 6,
    plant: chargeFault("chargeType 'tribute' must be", charge => {
      charge.chargeType = 'tribute'
    }),
  },
  {
    kind: 'an item of an unknown installment',
    rule: 6,
    plant: chargeFault('must be the number of an installment', (charge, { installments }) => {
      charge.installmentItems[0].installmentNumber = installments.length + 1
    }),
  },
  {
    kind: 'an installment of an unknown invoice',
    rule: 7,
    plant: account => {
      const place = firstTransactionOf(account)
      const installment = place?.transaction.installments?.[0]
      if (!place || !installment) return undefined
      installment.invoiceId = 'nowhere'
      const path = `${place.path}/${installment.id ?? 'installments[0]'}`
      const told = ofPolicy(
        place.policy,
        'installment',
        path,
        "invoiceId 'nowhere' must be the id of an invoice",
      )
      return { ...told, besides: 'an invoice without installments bills nothing' }
    },
  },
  {
    kind: 'an installment without a due time',
    rule: 'shape',
    plant: account => {
      const place = firstTransactionOf(account)
      const installment = place?.transaction.installments?.[0]
      if (!place || !installment) return undefined
      installment.dueTime = 'soon'
      const path = `${place.path}/${installment.id ?? 'installments[0]'}`
      const says = "'terms[0].transactions[0].installments[0].dueTime' must be a time"
      return ofPolicy(place.policy, 'installment', path, says)
    },
  },
  {
    kind: 'a settled invoice that its payments do not cover',
    rule: 8,
    plant: invoiceFault(
      'invoiceState settled must have payments and credit of its total',
      (invoice, item) => {
        invoice.invoiceState = 'settled'
        item.amount = 0.01
      },
    ),
  },
  {
    kind: 'a discarded invoice that was paid',
    rule: 8,
    plant: invoiceFault('invoiceState discarded must have no payments', invoice => {
      invoice.invoiceState = 'discarded'
    }),
  },
  {
    kind: 'payments above the total of an invoice',
    rule: 9,
    plant: invoiceFault('must not exceed the amount due', (_, item) => {
      item.amount = 999_999
    }),
  },
  {
    kind: 'a payout above the available credit',
    rule: 9,
    plant: account => {
      const [disbursement] = account.disbursements ?? []
      if (!disbursement?.sources?.[0]) return undefined
      disbursement.sources[0].amount = 999_999
      return ofItem('disbursements', disbursement, 'must not exceed the credit at that time')
    },
  },
  {
    kind: 'a wrong control total',
    rule: 10,
    plant: account => {
      const { accountData, policies } = account
      if (!policies?.length) return undefined
      account.accounting = { originalAccountBalances: { invoiced: 123_456.78 } }
      const says = 'accounting.originalAccountBalances.invoiced is 123456.78, but the total of the request is'
      const { id } = accountData
      return { item: 'account', originalId: id, elementType: 'account', path: id, says }
    },
  },
  {
    kind: 'another currency',
    rule: 11,
    plant: account => {
      const [payment] = account.payments ?? []
      if (!payment) return undefined
      payment.currency = 'XAF'
      return ofItem('payments', payment, 'currency must be')
    },
  },
  {
    kind: 'an unknown installment plan',
    rule: 12,
    plant: policyFault("installmentPlanName 'whenever' must be a payment schedule", policy => {
      policy.preferences = { installmentPreferences: { installmentPlanName: 'whenever' } }
    }),
  },
]

const LISTS = ['policies', 'invoices', 'payments', 'disbursements'] as const

/** Returns the body of the PATCH that corrects what was sent, except for the account's locator. */
export function correctionOf(sound: Wire, sent: Wire): Record<string, Wire> {
  const lists: Record<string, Wire> = {}
  for (const list of LISTS)
    for (const item of sound[list] ?? []) {
      const own = (sent[list] ?? []).filter((one: Wire) => one.id === item.id)
      if (JSON.stringify(own) !== JSON.stringify([item])) lists[list] = { ...lists[list], [item.id]: item }
    }
  const same = JSON.stringify(sound.accounting) === JSON.stringify(sent.accounting)
  return {
    ...lists,
    ...(!same && { accounting: sound.accounting ?? { originalAccountBalances: {} } }),
  }
}
