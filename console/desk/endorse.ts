// Changing a policy in force: its values, what is insured, and from when.
import { useMemo, useState } from 'preact/hooks'
import { type Child, h, part, type View } from '../element.ts'
import { words } from '../format.ts'
import { current, latestOf } from '../knowledge.ts'
import type { Exposure, Field } from '../wire.ts'
import { DESK } from '../words.ts'
import { confirmation, doneWith, useDeed } from './deed.ts'
import { type Added, AddedExposures, addedRequest } from './exposures.ts'
import { changed, Fields, type Filled, formValues } from './fields.ts'
import { beginOf, checkInput, dayInput, dayOf, type Option, selectInput } from './inputs.ts'
import { usePreview } from './preview.ts'
import { policyPath, previewed, type Transacted, TransactionForm } from './transactions.ts'

/** More exposures than these are closed at first. */
const MOST_OPEN = 3

type Changes = {
  readonly policy: Filled
  readonly exposures: Readonly<Record<string, Filled>>
  readonly ended: readonly string[]
  readonly added: readonly Added[]
}

export function Endorse({ policy, product, close }: Transacted): View {
  const now = latestOf(policy)
  const policyFields = product.fields as readonly Field[]
  const [name, setName] = useState(product.endorsements[0]?.name ?? '')
  const [from, setFrom] = useState(dayOf(now))
  const [reprice, setReprice] = useState(false)
  const before = useMemo(() => {
    const held = current(policy.characteristics, now)
    return {
      policy: formValues(policyFields, held?.fieldValues ?? {}),
      exposures: exposuresOf(policy.exposures, now),
    }
  }, [policy])
  const [changes, change] = useState<Changes>({
    policy: { values: before.policy, groups: {} },
    exposures: {},
    ended: [],
    added: [],
  })
  const previewing = usePreview(policy.locator)
  const deed = useDeed(() => doneWith(DESK.endorsed))
  const preparing = useDeed(() => doneWith(DESK.prepared))
  const fieldsOf = (one: string): readonly Field[] =>
    (product.exposures.find(exposure => exposure.name === one)?.fields ?? []) as readonly Field[]
  const asksReprice = product.endorsements.find(one => one.name === name)?.reprice === 'input'

  const body = (): object => {
    const updates = Object.entries(changes.exposures).flatMap(([locator, { values }]) => {
      const { exposure, values: old } = before.exposures.get(locator)!
      const fieldValues = changed(fieldsOf(exposure.name), formValues(fieldsOf(exposure.name), old), values)
      return Object.keys(fieldValues).length === 0 || changes.ended.includes(locator)
        ? []
        : [{ exposureLocator: locator, fieldValues }]
    })
    return {
      endorsementName: name,
      startTimestamp: beginOf(from),
      fieldValues: changed(policyFields, before.policy, changes.policy.values),
      ...(updates.length > 0 && { updateExposures: updates }),
      ...(changes.added.length > 0 && {
        addExposures: changes.added.map(one => addedRequest(product, one)),
      }),
      ...(changes.ended.length > 0 && { endExposures: changes.ended }),
      ...(asksReprice && { reprice }),
    }
  }
  const { faults } = previewing
  const exposureNode = (
    locator: string,
    exposure: Exposure,
    old: Readonly<Record<string, string[]>>,
  ): Child => {
    const fields = fieldsOf(exposure.name)
    const isEnded = changes.ended.includes(locator)
    const title =
      product.exposures.find(one => one.name === exposure.name)?.displayName ?? words(exposure.name)
    return h(
      'details',
      { class: 'card', key: locator, open: before.exposures.size <= MOST_OPEN },
      h('summary', {}, `${title} ${exposure.displayId}`),
      checkInput(`${DESK.endExposure}: ${title} ${exposure.displayId}`, isEnded, isOn =>
        change({
          ...changes,
          ended: isOn ? [...changes.ended, locator] : changes.ended.filter(one => one !== locator),
        }),
      ),
      !isEnded &&
        part(Fields, {
          ...{ fields, faults, place: `exposure.${locator}`, withoutGroups: true },
          filled: changes.exposures[locator] ?? { values: formValues(fields, old), groups: {} },
          change: (filled: Filled) =>
            change({ ...changes, exposures: { ...changes.exposures, [locator]: filled } }),
        }),
    )
  }
  return part(TransactionForm, {
    ...{ title: DESK.endorse, policy, close, kind: 'endorsement', previewing, deed, body },
    confirm: DESK.issueEndorsement,
    mayInvalidate: true,
    request: (asked, preview) =>
      previewed('POST', policyPath(policy, 'endorsements'), { ...asked, state: 'issued' }, preview),
    more: asked =>
      confirmation(preparing, DESK.prepare, {
        method: 'POST',
        path: policyPath(policy, 'endorsements'),
        body: { ...asked, state: 'quoted' },
      }),
    children: [
      selectInput(
        DESK.endorsementType,
        product.endorsements.map((one): Option => [one.name, one.displayName]),
        name,
        setName,
      ),
      dayInput(DESK.from, from, setFrom, { fault: faults.get('endorsement.startTimestamp') }),
      asksReprice && checkInput(DESK.reprice, reprice, setReprice),
      h(
        'details',
        { class: 'card', open: true, key: 'policy' },
        h('summary', {}, DESK.ofPolicy),
        part(Fields, {
          ...{ fields: policyFields, faults, place: 'policy', withoutGroups: true },
          filled: changes.policy,
          change: (filled: Filled) => change({ ...changes, policy: filled }),
        }),
      ),
      [...before.exposures].map(([locator, { exposure, values }]) => exposureNode(locator, exposure, values)),
      part(AddedExposures, {
        ...{ product, faults, added: changes.added },
        change: (added: readonly Added[]) => change({ ...changes, added }),
      }),
    ],
  })
}

/** What is covered at the time or later, with its values. */
function exposuresOf(exposures: readonly Exposure[], now: number) {
  return new Map(
    exposures.flatMap(exposure => {
      const held = current(exposure.characteristics, now)
      const isCovered = held !== undefined && Number(held.endTimestamp) > now
      return isCovered ? [[exposure.locator, { exposure, values: held.fieldValues }] as const] : []
    }),
  )
}
