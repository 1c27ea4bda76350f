// Headings of the reference, in the order in which a newcomer needs them.

type Tag = { readonly name: string; readonly description: string }

export const TAGS: readonly Tag[] = [
  {
    name: 'Accounts',
    description: 'Signing in, the accounts of a tenant, their passwords, and what they may do.',
  },
  { name: 'Auth tokens', description: 'Long-lived tokens of programs.' },
  {
    name: 'Policyholders',
    description: 'Persons and companies that are insured; what they are found by; their erasure.',
  },
  {
    name: 'Policies',
    description: 'From the draft to the issue; prices, underwriting, and a policy as it was known at a time.',
  },
  { name: 'Quotes', description: 'Several offers of one policy, of which one is accepted.' },
  { name: 'Quick quotes', description: 'A price for a request, without a policy.' },
  { name: 'Endorsements', description: 'Changes of a policy in force, from a time on.' },
  { name: 'Renewals', description: 'Another term behind the last one.' },
  { name: 'Cancellations', description: 'The end of a policy before its term, and what is given back.' },
  { name: 'Reinstatements', description: 'The way back of a cancelled policy.' },
  { name: 'Grace periods', description: 'The time between an invoice past due and the end of cover.' },
  { name: 'Legacy lapse and reinstatement', description: 'Lapse for non-payment as older products have it.' },
  { name: 'Invoices', description: 'Invoices, what they bill, payments, credit and disbursements.' },
  { name: 'Calculations', description: 'Premium formulas tried out.' },
  { name: 'Constraints', description: 'What values a field may have, given those of others.' },
  { name: 'Documents', description: 'Documents of policies: uploaded, removed, tried out.' },
  { name: 'Media', description: 'Files that fields name.' },
  { name: 'Files', description: 'Files by their signed addresses.' },
  { name: 'Auxiliary data', description: 'Text of clients, under a locator and a key.' },
  { name: 'Event stream', description: 'Everything that happened, in its order.' },
  { name: 'Events', description: 'Events by their newer names, and schedules of custom ones.' },
  {
    name: 'Webhooks',
    description: 'Events posted to addresses of the tenant; under `webhooks`, what each says.',
  },
  { name: 'Diverted events', description: 'Events that a webhook did not take, put aside.' },
  { name: 'Configuration deployment', description: 'Products as files: deployed, repaired, read back.' },
  { name: 'Resource groups', description: 'Which resources are in force from when on, and where.' },
  { name: 'Resources', description: 'Resources of all types.' },
  { name: 'Tables', description: 'Tables that rating and plugins look up.' },
  { name: 'Range tables', description: 'Tables that are looked up by the range that a number lies in.' },
  { name: 'Constraint tables', description: 'Tables that say which values go together.' },
  { name: 'Templates', description: 'Templates of documents, in Liquid or Velocity.' },
  { name: 'Template snippets', description: 'Parts of templates.' },
  { name: 'Static documents', description: 'Documents that are the same for every policy.' },
  { name: 'Fonts', description: 'Fonts of documents.' },
  { name: 'Secrets', description: 'Passwords and keys that calls to other services refer to.' },
  {
    name: 'Integrations',
    description: 'Services of the tenant that rating and autofill call; the log of calls.',
  },
  { name: 'Plugins', description: 'Functions of the configuration, and their log.' },
  { name: 'Migration', description: 'Policies, invoices and payments brought in from another system.' },
  { name: 'Audit', description: 'Who did what to accounts, configurations and settings.' },
  { name: 'Tenant', description: 'Settings of the tenant.' },
  { name: 'Test tenants', description: 'What only test tenants can: moving their clock.' },
  { name: 'Service', description: 'Whether the service answers, and this document.' },
  { name: 'Deprecated', description: 'Kept for older clients; each says what takes its place.' },
]

/** The tags of the routes in that order; one that has no heading yet comes last. */
export const tagsOf = (names: Iterable<string>): { name: string; description?: string }[] => {
  const used = new Set(names)
  const headed = TAGS.filter(({ name }) => used.delete(name))
  return [...headed, ...[...used].map(name => ({ name }))]
}
