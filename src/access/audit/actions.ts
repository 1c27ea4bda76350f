// The actions that the audit trail records. They are separate from its contract because the console lists them, too.

const ACTIONS = {
  auxdata: ['write', 'delete'],
  secrets: ['write', 'delete', 'read'],
  'resource-groups': ['write'],
  permission: ['refused'],
  configuration: ['deploy', 'repair'],
  integrations: ['write', 'delete'],
  tenants: ['clock', 'write'],
  webhooks: ['write', 'delete', 'resend'],
  migration: ['write'],
  impacts: ['write'],
  reports: ['create'],
  books: ['write'],
  login: ['success', 'failure'],
  accounts: ['write', 'disable', 'enable', 'delete', 'unlock', 'password', 'rules', 'roles'],
  tokens: ['write', 'delete', 'revoke'],
  credentials: ['delete'],
  agents: ['carryOut'],
  providers: ['write', 'delete'],
  roles: ['write', 'delete'],
} as const

type Subject = keyof typeof ACTIONS
export type AuditAction = { [S in Subject]: `${S}.${(typeof ACTIONS)[S][number]}` }[Subject]

export const AUDIT_ACTIONS = Object.entries(ACTIONS).flatMap(([subject, actions]) =>
  actions.map(action => `${subject}.${action}` as AuditAction),
) as [AuditAction, ...AuditAction[]]
