// Texts of the desk's forms and dialogs, which are loaded with it. For another language, write another file of this shape.

export const FORMS = {
  // Fields.
  noChoice: 'The other entries leave no choice.',
  choicesFollow: (fields: string): string => `The choices depend on: ${fields}.`,
  choicesFailed: 'The choices could not be read. You can type the value.',
  cleared: (values: string): string => `No longer possible, and taken out: ${values}.`,
  largestFile: 'At most 25 MiB.',
  emptyFile: 'The file is empty.',
  fileTooLarge: 'The file is larger than 25 MiB. Choose a smaller one.',
  notADocument: 'Choose a PDF or an HTML file.',
  mayNotUpload: 'This account may not upload files.',
  uploading: 'Uploading …',
  // Previews.
  whatChanges: 'What changes',
  nothingElse: 'Nothing of what the policy has.',
  moreChanges: (count: number): string => `And ${count} more.`,
  before: 'Before',
  isCovered: 'Covered',
  notCovered: 'Not covered',
  // Transactions.
  loadsPerils: 'perils',
  addPerils: 'Add perils',
  limitsOf: (peril: string): string => `Limits and details of ${peril}`,
  amounts: {
    deductible: 'Deductible',
    indemnityPerItem: 'Limit for each item',
    indemnityPerEvent: 'Limit for each event',
    indemnityInAggregate: 'Limit in all',
    lumpSumPayment: 'Lump sum',
  },
  orUnlimited: 'An amount, or “unlimited”',
  // Fees, payment schedule, withdrawing.
  feesChanged: 'The fees are changed.',
  feesToReverse: 'Fees to take back',
  newFee: 'New fee',
  noFee: 'None',
  feeUntil: 'Until',
  description: 'Description',
  notAnAmount: 'Write an amount, such as 12.50.',
  feeBilled: (fee: string, amount: string): string => `${fee}: ${amount} is billed at once.`,
  feesGoBack: (amount: string): string =>
    `Fees of ${amount} are taken back: what was billed of them is given back, and the rest is not billed.`,
  scheduleChanged: 'The payment schedule is changed.',
  scheduleNow: 'Now',
  scheduleAbout:
    'What is not billed yet is planned again from today on, and what is due is billed at once. Invoices that were made stay as they are.',
  withdrawAbout:
    'The policy ends from its start: premium, taxes and fees become zero, and what was paid is given back. Nothing can be done to it afterwards.',
  paidSoFar: 'Paid so far',
  withdrawn: 'The policy is withdrawn.',
  discardAbout:
    'The policy was never in force. Its quotes go with it, and nothing can be done to it afterwards.',
  policyDiscarded: 'The policy is discarded.',
  rescind: 'Withdraw',
  rescinded: 'withdrawn',
  rescindAbout: 'The draft of the cancellation goes. The policy stays in force.',
  // Notes.
  moreNotes: 'Show later notes',
} as const
