// Which steps may follow for quotes and transactions in preparation, by their states.

/** A quote or a transaction, as its steps need it. */
export type Prepared = {
  readonly kind: 'quote' | 'endorsement' | 'renewal' | 'cancellation' | 'reinstatement'
  readonly locator: string
  /** The name shown to the user. */
  readonly title: string
  readonly state: string
  readonly decision: string | undefined
}

export type StepName =
  | 'quote'
  | 'accept'
  | 'issue'
  | 'discard'
  | 'invalidate'
  | 'select'
  | 'decide'
  | 'copy'
  | 'rescind'

/** Returns the steps that may follow in the state, each with its permissions. Any one of them suffices. */
export function stepsOf({
  kind,
  state,
  decision,
}: Prepared): readonly (readonly [StepName, readonly string[]])[] {
  const group = `${kind}s`
  const write = [`${group}.write`]
  const underwrite = [`${group}.underwrite`]
  if (kind === 'cancellation')
    return state === 'draft'
      ? [
          ['issue', [...write, 'cancellations.issue']],
          ['rescind', write],
        ]
      : []
  if (kind === 'reinstatement')
    switch (state) {
      case 'draft':
        return [['accept', [...write, 'reinstatements.accept']]]
      case 'accepted':
        return [
          ['issue', [...write, 'reinstatements.issue']],
          ['invalidate', write],
        ]
      default:
        return []
    }
  if (kind === 'quote')
    switch (state) {
      case 'draft':
        return [
          ['quote', [...write, 'quotes.price']],
          ['select', write],
          ['discard', [...write, 'quotes.discard']],
        ]
      case 'quoted':
        return [
          ...(decision === 'accept' ? [['accept', [...write, 'quotes.accept']] as const] : []),
          ['decide', underwrite],
          ['copy', write],
          ['discard', [...write, 'quotes.discard']],
        ]
      case 'accepted':
        return [
          ['issue', ['policies.issue']],
          ['invalidate', [...write, 'quotes.accept']],
        ]
      case 'declined':
        return [
          ['decide', underwrite],
          ['copy', write],
        ]
      default:
        return []
    }
  switch (state) {
    case 'application':
      return [
        ['quote', write],
        ['decide', underwrite],
        ['discard', write],
      ]
    case 'quoted':
      return [
        ...(decision === undefined || decision === 'accept' ? [['accept', write] as const] : []),
        ['decide', underwrite],
        ['discard', write],
      ]
    case 'accepted':
      return [
        ['issue', write],
        ['invalidate', write],
      ]
    default:
      return []
  }
}
