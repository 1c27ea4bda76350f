// Titles and texts of the work lists.

export type WorkListWords = {
  readonly title: string
  readonly about: string
  /** What `timestamp` means, as the title of its column. */
  readonly when: string
  readonly none: string
}

export const WORK_LISTS = {
  referred: {
    title: 'Referred quotes',
    about: 'Underwriting left these to a person. A decision takes them off the list.',
    when: 'Referred',
    none: 'No quote waits for a decision.',
  },
  applications: {
    title: 'Applications for changes',
    about: 'Endorsements and renewals that are not quoted yet, or that underwriting refused.',
    when: 'Last changed',
    none: 'No endorsement or renewal waits to be quoted.',
  },
  quoted: {
    title: 'Quoted, not accepted',
    about: 'Quotes, endorsements and renewals with a price that nobody has accepted.',
    when: 'Quoted',
    none: 'Nothing that is quoted waits for acceptance.',
  },
  expiring: {
    title: 'Expiring policies',
    about: 'Policies in force that end soon and are not renewed, the next to end first.',
    when: 'Ends',
    none: 'No policy ends in this time.',
  },
  pastDue: {
    title: 'Unpaid invoices',
    about: 'Invoices that were due and are not paid.',
    when: 'Was due',
    none: 'No invoice is past due.',
  },
  inGrace: {
    title: 'In grace',
    about: 'Policies whose grace period runs. They lapse at its end.',
    when: 'Grace ends',
    none: 'No grace period runs.',
  },
  reinstatable: {
    title: 'Lapsed, can be reinstated',
    about: 'Policies that lapsed because they were not paid, and can be reinstated.',
    when: 'Until, or lapsed on',
    none: 'No lapsed policy can be reinstated.',
  },
  failedDocuments: {
    title: 'Failed documents',
    about: 'Documents that could not be made, with the reason.',
    when: 'Failed',
    none: 'Every document was made.',
  },
  policies: {
    title: 'All policies',
    about: 'Every policy, in the order in which they were created.',
    when: 'Created',
    none: 'There are no policies yet.',
  },
  deliveries: {
    title: 'Failed deliveries',
    about: 'Events that a webhook did not take: given up in the last 30 days, or put aside.',
    when: 'Given up',
    none: 'Every event was delivered.',
  },
  migrations: {
    title: 'Open migrations',
    about: 'Migrations that run, are paused, or ended with failures.',
    when: 'Last changed',
    none: 'No migration is open.',
  },
} as const satisfies Record<string, WorkListWords>

export type ListName = keyof typeof WORK_LISTS

export const WORDS = {
  work: 'Work',
  notAList: 'There is no list of that name.',
  allWork: 'All work',
  product: 'Product',
  every: 'All',
  type: 'Record',
  state: 'State',
  days: { expiring: 'Ends within days', reinstatable: 'Lapsed within days' },
  apply: 'Show',
  nextPage: 'Next page',
  firstPage: 'First page',
  end: 'End of the list.',
  noneChosen: 'Nothing on the list fits this choice.',
  showAll: 'Show the whole list',
  record: 'Record',
  policy: 'Policy',
  policyholder: 'Policyholder',
  term: 'Term',
  premium: 'Premium',
  notes: 'Notes',
  webhook: 'Webhook',
  event: 'Event',
  outcome: 'Outcome',
  migration: 'Migration',
  accounts: 'Accounts',
  submittedBy: 'Submitted by',
  count: (count: number, hasMore: boolean): string => `${count.toLocaleString()}${hasMore ? ' or more' : ''}`,
  onThisPage: (count: number): string =>
    count === 1 ? '1 record on this page' : `${count.toLocaleString()} records on this page`,
} as const

/** States of policies as of now. */
export const POLICY_STATES = [
  'created',
  'quoted',
  'declined',
  'finalized',
  'discarded',
  'lapsed',
  'inGrace',
  'pending',
  'issued',
  'expired',
  'cancelled',
  'withdrawn',
]
