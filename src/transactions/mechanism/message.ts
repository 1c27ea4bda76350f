// The message that carries an operation from the Worker to the policy's object.
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { Calls } from '../../platform/calls.ts'
import type { AnswerBySubject, JsonAnswer } from '../../platform/commit.ts'
import type { Caller, IdempotencyKey, RequestContext } from '../../platform/context.ts'
import type { IfMatch } from '../../platform/http/entity-tags.ts'
import { callForReply, type ObjectReply, policyObject } from '../../platform/objects.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { PolicyOperation } from './kind.ts'
import type { IfPreviewed } from './preview-token.ts'

export type PolicyMessage = {
  tenant: Tenant
  caller: Caller
  requestId: Uuid
  idempotency?: IdempotencyKey
  /** `If-Match`: the operation's record must have one of these tags. */
  ifMatch?: IfMatch
  /** `If-Previewed`: the operation must be the one that was previewed, at the same price. */
  ifPreviewed?: IfPreviewed
  /** As in RequestContext. */
  adds?: boolean
  /** As in Calls. `sendToPolicy` sets it. */
  token?: Calls['token']
  locator: PolicyLocator
  operation: PolicyOperation
}

export type PolicyReply = ObjectReply<JsonAnswer | AnswerBySubject>

/** Sends the message to the policy's object. Throws the Refusal that the object returns. */
export const sendToPolicy = (
  { env, calls }: Pick<RequestContext, 'env' | 'calls'>,
  message: PolicyMessage,
): Promise<JsonAnswer | AnswerBySubject> =>
  callForReply(
    calls,
    () =>
      policyObject(env, message.tenant, message.locator).execute({
        ...message,
        token: calls.token,
      }) as Promise<PolicyReply>,
    { mayRepeat: message.idempotency !== undefined },
  )
