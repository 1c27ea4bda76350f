/** What is audited. */
export const AUDIT_ACTIONS = ['auxdata.write', 'auxdata.delete'] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]
