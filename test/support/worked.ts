// The worked premiums of the examples, as their READMEs derive them by hand.

export type WorkedPolicy = {
  name: string
  why: string
  request: {
    policyholder: { values: Record<string, string | string[]> }
    policy: {
      productName: string
      policyStartTimestamp: number
      policyEndTimestamp: number
      paymentScheduleName?: string
      fieldValues?: Record<string, string | string[]>
      fieldGroups?: { fieldName: string; fieldValues: Record<string, string | string[]> }[]
      exposures: {
        exposureName: string
        fieldValues?: Record<string, string | string[]>
        fieldGroups?: { fieldName: string; fieldValues: Record<string, string | string[]> }[]
        perils: { name: string; fieldValues?: Record<string, string | string[]> }[]
      }[]
    }
  }
  /** Amounts as decimal text in major units. */
  expected: {
    decision: 'accept' | 'reject' | 'none'
    notes: string[]
    grossPremium: string
    grossTaxes: string
    grossFees: string
    grossCommissions: string
    total: string
    months: string
    taxGroups: Record<string, string>
    fees: Record<string, string>
    commissions: Record<string, string>
    perils: { exposure: number; peril: string; premium: string; technicalPremium?: string }[]
  }
}
