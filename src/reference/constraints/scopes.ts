// Where the field lies that governs a constrained one: in the same list, or in one around it (resources brief 1.1, "key:
// property path"). The same way is gone when a configuration is checked and when values are held against a table.
import type { FieldDefinition } from '../../product/configuration.ts'

/** Whose fields a list is: the element, or one group of its fields. */
export type ScopeKind = 'policyholder' | 'policy' | 'exposure' | 'peril' | 'group'

export type Scope = {
  readonly kind: ScopeKind
  readonly fields: readonly FieldDefinition[]
}

/** With the list around it: a group's is its element's, then peril in exposure in policy in policyholder. */
type Nested<S> = Scope & { readonly outer?: S | undefined }

/** Names of elements that a path may begin with. `account` is the newer name of a policyholder. */
const OWNERS: Readonly<Record<string, ScopeKind>> = {
  policyholder: 'policyholder',
  account: 'policyholder',
  policy: 'policy',
  exposure: 'exposure',
  peril: 'peril',
}

/** Parts of a path that only lead from an element to its fields. */
const PASSED_OVER = new Set(['fieldValues', 'values', 'data'])

/** Types whose values are no text that a table could have. */
const UNGOVERNING = new Set<FieldDefinition['type']>(['group', 'media'])

/**
 * The field that a key names, and the list that it is of: `make` is the nearest field of that name, in the same list or
 * around it; `policy.state` and `account.data.state` the one of that element. Undefined where there is none.
 */
export function governorOf<S extends Nested<S>>(
  scope: S,
  key: string,
): { readonly scope: S; readonly field: FieldDefinition } | undefined {
  const parts = key.split('.')
  const owner = parts.length > 1 && Object.hasOwn(OWNERS, parts[0]!) ? OWNERS[parts.shift()!] : undefined
  if (parts.length > 1 && PASSED_OVER.has(parts[0]!)) parts.shift()
  const name = parts.join('.')
  for (let at: S | undefined = scope; at; at = at.outer) {
    if (owner !== undefined && at.kind !== owner) continue
    const field = at.fields.find(one => one.name === name && !UNGOVERNING.has(one.type))
    if (field) return { scope: at, field }
  }
  return undefined
}
