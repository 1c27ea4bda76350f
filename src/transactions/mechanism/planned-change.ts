// The price change of a transaction, computed by the plan that carries it out, and not stored.
import type { Loaded } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/rate.ts'
import { allKinds, type ChangeOf, type ChangeResponse, defineKind, json, type PlannedChange } from './kind.ts'

declare module './kind.ts' {
  interface PolicyOperations {
    /** The price change of a transaction; nothing is stored. */
    change: { of: PlannedChange }
  }
}

/** How that change is worked out; the kind that declares it knows. */
function changeOf({ kind }: PlannedChange): ChangeOf<PlannedChange> {
  const found = allKinds().find(one => one.changes?.[kind])
  if (!found) throw new Error(`No kind of operation works out the change '${kind}'.`)
  return found.changes![kind] as unknown as ChangeOf<PlannedChange>
}

/** The change of the price: as recorded where it was carried out, else as it would be now. */
export const decideChange = (loaded: Loaded, of: PlannedChange, attempt: Attempt): Promise<ChangeResponse> =>
  changeOf(of).decide(loaded, of, attempt)

export const changeKind = defineKind<'change'>({
  name: 'change',
  isReadOnly: () => true,
  fill: async (operation, loaded, autofill) => ({
    ...operation,
    of: (await changeOf(operation.of).fill?.(operation.of, loaded, autofill)) ?? operation.of,
  }),
  decide: async (loaded, { of }, { attempt }) => ({ answer: json(await decideChange(loaded, of, attempt)) }),
})
