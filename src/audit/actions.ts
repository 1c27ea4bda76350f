/** What is audited. */
export const AUDIT_ACTIONS = [
  'auxdata.write',
  'auxdata.delete',
  'secrets.write',
  'secrets.delete',
  'secrets.read',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]
