// The form that endorses a policy: its values, its exposures, and the effective time.
import { useMemo, useState } from 'preact/hooks'
import { type Child, h, part, type View } from '../element.ts'
import { holderOf } from '../find.ts'
import { words } from '../format.ts'
import { current, historyOf, latestOf, termAt, usualStart } from '../knowledge.ts'
import { exposureInFull, isOutlined } from '../large-policies.ts'
import { collapsible, loadedSection } from '../parts.ts'
import { usePromise } from '../use-promise.ts'
import type { Field, Policy, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { scopeProvider, withSurroundings } from './allowed.ts'
import type { Scope } from './constraints.ts'
import { type Added, AddedExposures, exposureRequest } from './exposures.ts'
import { Fields } from './fields.ts'
import { beginOf, checkInput, dayInput, dayOf, type Option, selectInput } from './inputs.ts'
import {
  type ExposureForm,
  exposureChanges,
  type InsuredExposure,
  InsuredFields,
  insuredExposures,
} from './insured.ts'
import { useUploads } from './media.ts'
import type { Faults } from './places.ts'
import { differenceTable, usePreview } from './preview.ts'
import { announceDone, confirmation, useSubmission } from './submission.ts'
import { policyPath, previewedRequest, TransactionForm, type TransactionProps } from './transactions.ts'
import { changes as changesOf, type Filled, filledFrom } from './values.ts'
import { FORMS } from './words.ts'

/** With more exposures than this, each is collapsed at first. */
const MOST_OPEN = 3

type Changes = {
  readonly policy: Filled
  readonly exposures: Readonly<Record<string, ExposureForm>>
  readonly ended: readonly string[]
  readonly added: readonly Added[]
}

export function Endorse({ policy, product, close }: TransactionProps): View {
  const now = latestOf(policy)
  const policyFields = product.fields as readonly Field[]
  const [name, setName] = useState(product.endorsements[0]?.name ?? '')
  const [from, setFrom] = useState(dayOf(usualStart(policy)))
  const [reprice, setReprice] = useState(false)
  const held = useMemo(() => current(policy.characteristics, now), [policy])
  const before = useMemo(
    () => ({
      policy: filledFrom(policyFields, held),
      exposures: insuredExposures(policy.exposures, product, now),
    }),
    [policy],
  )
  const [changes, change] = useState<Changes>({
    policy: before.policy,
    exposures: {},
    ended: [],
    added: [],
  })
  const previewing = usePreview(policy.locator, product)
  const submission = useSubmission(() => announceDone(DESK.endorsed), product)
  const preparing = useSubmission(() => announceDone(DESK.prepared), product)
  const uploads = useUploads(mediaOf(policy.modifications))
  const asksReprice = product.endorsements.find(one => one.name === name)?.reprice === 'input'
  /** Exposures of a large policy that the user opened, with their perils. */
  const [inFull, keep] = useState<Readonly<Record<string, InsuredExposure>>>({})

  const body = (): object => ({
    endorsementName: name,
    startTimestamp: beginOf(from),
    ...changesOf(policyFields, before.policy, changes.policy),
    ...exposuresRequest(product, before.exposures, inFull, changes),
    ...(asksReprice && { reprice }),
  })
  const { faults } = previewing
  const exposureNode = (outlined: InsuredExposure): Child => {
    const { locator } = outlined.exposure
    return part(InsuredPart, {
      key: locator,
      policy,
      product,
      now,
      insured: inFull[locator] ?? outlined,
      isOpenAtFirst: before.exposures.length <= MOST_OPEN,
      isEnded: changes.ended.includes(locator),
      form: changes.exposures[locator] ?? outlined.form,
      faults,
      keep: insured => keep(kept => ({ ...kept, [locator]: insured })),
      change: form => change({ ...changes, exposures: { ...changes.exposures, [locator]: form } }),
      end: isOn =>
        change({
          ...changes,
          ended: isOn ? [...changes.ended, locator] : changes.ended.filter(one => one !== locator),
        }),
    })
  }
  const holder = useHolder(policy.policyholderLocator)
  const scope: Scope = {
    kind: 'policy',
    fields: policyFields,
    values: changes.policy.values,
    outer: holder && {
      kind: 'policyholder',
      values: holder,
      fields: product.policyholderFields as readonly Field[],
    },
  }
  const at = beginOf(from)
  const history = historyOf(policy)
  const times = {
    policyStartTime: Number(policy.originalContractStartTimestamp),
    termStartTime: termAt(history, history.steps.length - 1, at ?? now).start,
    transactionEffectiveTime: at,
  }
  const form = part(TransactionForm, {
    title: DESK.endorse,
    policy,
    close,
    kind: 'endorsement',
    previewing,
    submission,
    body,
    confirm: DESK.issueEndorsement,
    mayInvalidate: true,
    isHeldUp: uploads.isUploading || from === '',
    about: preview => differenceTable(policy, preview.policyWhenIssued, product, at ?? now),
    request: (asked, preview) =>
      previewedRequest('POST', policyPath(policy, 'endorsements'), { ...asked, state: 'issued' }, preview),
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
      dayInput(DESK.from, from, setFrom, {
        isRequired: true,
        fault: faults.get('endorsement.startTimestamp'),
      }),
      asksReprice && checkInput(DESK.reprice, reprice, setReprice),
      h(
        'details',
        { class: 'card', open: true, key: 'policy' },
        h('summary', {}, DESK.ofPolicy),
        scopeProvider(
          scope.outer,
          part(Fields, {
            fields: policyFields,
            faults,
            place: 'policy',
            kind: 'policy',
            filled: changes.policy,
            change: (filled: Filled) => change({ ...changes, policy: filled }),
          }),
        ),
      ),
      scopeProvider(
        scope,
        before.exposures.map(exposureNode),
        part(AddedExposures, {
          product,
          faults,
          added: changes.added,
          change: (added: readonly Added[]) => change({ ...changes, added }),
        }),
      ),
    ],
  })
  return withSurroundings({ times, jurisdictionField: product.jurisdictionField }, uploads.within(form))
}

/** Builds the request's changes of exposures. `inFull` has the exposures of a large policy that the user opened, by locator. */
function exposuresRequest(
  product: ProductDetail,
  exposures: readonly InsuredExposure[],
  inFull: Readonly<Record<string, InsuredExposure>>,
  changes: Changes,
): object {
  const updates = exposures.flatMap(one => {
    const { locator } = one.exposure
    if (changes.ended.includes(locator)) return []
    return exposureChanges(inFull[locator] ?? one, changes.exposures[locator] ?? one.form)
  })
  return {
    ...(updates.length > 0 && { updateExposures: updates }),
    ...(changes.added.length > 0 && {
      addExposures: changes.added.map(one => exposureRequest(product, one)),
    }),
    ...(changes.ended.length > 0 && { endExposures: changes.ended }),
  }
}

type InsuredShown = {
  readonly policy: Policy
  readonly product: ProductDetail
  readonly now: number
  readonly insured: InsuredExposure
  readonly isOpenAtFirst: boolean
  readonly isEnded: boolean
  readonly form: ExposureForm
  readonly faults: Faults
  /** Keeps an exposure of a large policy with its perils, which are read when the user opens it. */
  readonly keep: (insured: InsuredExposure) => void
  readonly change: (form: ExposureForm) => void
  readonly end: (isOn: boolean) => void
}

/** One insured exposure: whether it ends and, if it does not, its fields and perils. */
function InsuredPart(shown: InsuredShown): View {
  const { insured, isEnded, policy, product, now } = shown
  const { exposure, kind } = insured
  const title = `${kind?.displayName ?? words(exposure.name)} ${exposure.displayId}`
  const inside = (): Child => {
    if (isEnded) return false
    if (!isOutlined(exposure)) {
      const { form, faults, change } = shown
      return part(InsuredFields, { insured, form, faults, change })
    }
    return loadedSection(FORMS.loadsPerils, async () => {
      const [read] = insuredExposures([await exposureInFull(policy, exposure)], product, now)
      if (read) shown.keep(read)
      return null
    })
  }
  return collapsible(exposure.locator, shown.isOpenAtFirst, [h('span', {}, title)], () => [
    checkInput(`${DESK.endExposure}: ${title}`, isEnded, shown.end),
    inside(),
  ])
}

/** Returns the policyholder's values, on which choices may depend. Undefined until they are loaded. */
function useHolder(locator: string): Readonly<Record<string, string[]>> | undefined {
  const [asked] = useState(() => holderOf(locator))
  return usePromise(asked).value?.entity.values
}

type Media = Readonly<Record<string, { readonly fileName?: string }>>

const mediaOf = (modifications: readonly { readonly mediaByLocator: Media }[]): Media =>
  Object.assign({}, ...modifications.map(({ mediaByLocator }) => mediaByLocator)) as Media
