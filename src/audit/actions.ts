/** What is audited. */
export const AUDIT_ACTIONS = [
  'auxdata.write',
  'auxdata.delete',
  'secrets.write',
  'secrets.delete',
  'secrets.read',
  'permission.refused',
  'configuration.deploy',
  'configuration.repair',
  'integrations.write',
  'integrations.delete',
  'tenants.clock',
  'tenants.write',
  'webhooks.write',
  'webhooks.delete',
  'webhooks.resend',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]
