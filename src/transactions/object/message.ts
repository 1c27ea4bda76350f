import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { AnswerBySubject, JsonAnswer } from '../../platform/commit.ts'
import type { Caller, IdempotencyKey, RequestContext } from '../../platform/context.ts'
import type { IfMatch } from '../../platform/http/entity-tags.ts'
import { ask, type ObjectReply, policyObject } from '../../platform/objects.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { PolicyOperation } from '../mechanism/kind.ts'

export type PolicyMessage = {
  tenant: Tenant
  caller: Caller
  requestId: Uuid
  idempotency?: IdempotencyKey
  /** `If-Match`: the operation's record must have one of these tags. */
  ifMatch?: IfMatch
  locator: PolicyLocator
  operation: PolicyOperation
}

export type PolicyReply = ObjectReply<JsonAnswer | AnswerBySubject>

/** Hands the message to the policy's object; throws its Refusal. */
export const askPolicy = (
  { env, calls }: Pick<RequestContext, 'env' | 'calls'>,
  message: PolicyMessage,
): Promise<JsonAnswer | AnswerBySubject> =>
  ask(
    calls,
    () => policyObject(env, message.tenant, message.locator).execute(message) as Promise<PolicyReply>,
  )
